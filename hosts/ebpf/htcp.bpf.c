// SPDX-License-Identifier: GPL-2.0
/*
 * H-TCP (Leith, Shorten, PFLDnet 2004): the increase grows with the time since the last loss.
 *
 * D seconds after a loss, f = 1 up to D = 1, then 1 + 10 (D - 1) + ((D - 1)/2)^2, scaled by
 * RTTmin/100 ms limited to [1/10, 2], at least 1; a round trip adds 2 (1 - beta) f segments. A loss
 * multiplies the window by beta = RTTmin/RTTmax, limited to [0.5, 0.8]. beta is 0.5 at the first
 * loss, for RTTmin <= 10 ms, and if the epoch's throughput changed by more than a fifth. At a loss
 * RTTmax falls by 5 % of its distance to RTTmin. Throughput is the epoch's maximum of (3 B + b)/4,
 * with one sample per RTTmin.
 *
 * Constants: Linux's tcp_htcp. Shares are in 1/128, throughput in segments per second.
 */
#include "narrows.bpf.h"

#define ONE 128U
#define LEAST_BETA 64U	   /* 0.5 */
#define GREATEST_BETA 102U /* 0.8 */
#define LEAST_RTT_US 10000U
#define SECOND_US 1000000ULL

struct own {
	__u64 congested_us;
	__u64 began_us;
	__u32 delivered;
	__u32 min_us;
	__u32 max_us;
	__u32 rate;
	__u32 epoch_rate;
	__u32 last_epoch_rate;
	__u32 beta; /* 0 before a loss */
	bool had_loss;
};

/* f of `since_us`, in 1/128; limited to an hour, after which the window is unbounded anyway. */
static __always_inline __u64 factor(const struct own *htcp, __u64 since_us)
{
	__u64 f = ONE, scale, later;

	if (since_us > SECOND_US) {
		later = min((since_us - SECOND_US) * ONE / SECOND_US, 3600ULL * ONE);
		f += 10 * later + later * later / (4 * ONE);
	}
	scale = within(ONE / 10, (__u64)htcp->min_us * ONE / 100000, 2 * ONE);
	return max(f * scale / ONE, ONE);
}

static __always_inline __u32 beta_of(const struct own *htcp)
{
	return htcp->beta ? htcp->beta : LEAST_BETA;
}

static __always_inline void end_epoch(struct own *htcp, __u64 now_us)
{
	__u64 rate = htcp->epoch_rate, last = htcp->last_epoch_rate;
	bool has_changed = 5 * rate < 4 * last || 5 * rate > 6 * last;

	htcp->last_epoch_rate = rate;
	htcp->epoch_rate = 0;
	if (has_changed || !htcp->had_loss || htcp->min_us <= LEAST_RTT_US)
		htcp->beta = LEAST_BETA;
	else
		htcp->beta = within(LEAST_BETA, (__u64)htcp->min_us * ONE / max(htcp->max_us, 1U),
				    GREATEST_BETA);
	htcp->had_loss = !has_changed;
	if (htcp->max_us > htcp->min_us)
		htcp->max_us = htcp->min_us + (htcp->max_us - htcp->min_us) / 100 * 95;
	htcp->congested_us = now_us;
}

void hook(pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct own *htcp = own(sk);
	__u64 now_us = tp->tcp_mstamp, span_us, rate;
	__s32 rtt_us = sample->rtt_us;

	if (rtt_us > 0) {
		htcp->min_us = htcp->min_us ? min(htcp->min_us, (__u32)rtt_us) : rtt_us;
		htcp->max_us = max(htcp->max_us, (__u32)rtt_us);
	}
	if (!htcp->began_us) {
		htcp->began_us = now_us;
		htcp->delivered = tp->delivered;
	}
	span_us = now_us - htcp->began_us;
	if (!htcp->min_us || span_us < htcp->min_us)
		return;
	rate = (tp->delivered - htcp->delivered) * SECOND_US / span_us;
	htcp->rate = htcp->rate ? (3 * (__u64)htcp->rate + rate) / 4 : rate;
	htcp->epoch_rate = max(htcp->epoch_rate, htcp->rate);
	htcp->began_us = now_us;
	htcp->delivered = tp->delivered;
}

void hook(cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct own *htcp = own(sk);
	__u64 step;

	if (!htcp->congested_us)
		htcp->congested_us = tp->tcp_mstamp;
	step = 2 * (ONE - beta_of(htcp)) * factor(htcp, tp->tcp_mstamp - htcp->congested_us) / ONE;
	grow(tp, (__u64)tp->snd_cwnd * ONE / max(step, 1ULL), acked);
}

__u32 hook(ssthresh, struct sock *sk)
{
	end_epoch(own(sk), tcp_of(sk)->tcp_mstamp);
	return share(tcp_of(sk), beta_of(own(sk)), ONE);
}

NARROWS_VARIANT(htcp, SSTHRESH, CONG_AVOID, PKTS_ACKED);
