// SPDX-License-Identifier: GPL-2.0
/*
 * Westwood+ (Grieco, Mascolo, CCR 2004): a loss sets the window to the estimated bandwidth-delay
 * product.
 *
 * Once per max(SRTT, 50 ms), a sample b = delivered / time passes e1 = (7 e1 + b)/8 and
 * e = (7 e + e1)/8; the first sample sets both. A loss halves the window until it is repaired; then
 * the window is e RTTmin. A time-out sets the threshold to e RTTmin and resets RTTmin. Growth is
 * Reno's.
 *
 * Constants: Linux's tcp_westwood. Rates are segments per second, in 1/1024.
 */
#include "narrows.bpf.h"

#define LEAST_SPAN_US 50000U
#define SHIFT 10

struct own {
	__u64 began_us;
	__u64 first_rate;
	__u64 rate;
	__u32 delivered;
	__u32 min_us;
};

void hook(pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct own *westwood = own(sk);
	__u64 now_us = tp->tcp_mstamp, span_us, rate;
	__s32 rtt_us = sample->rtt_us;

	if (rtt_us > 0 && (!westwood->min_us || rtt_us < westwood->min_us))
		westwood->min_us = rtt_us;
	/* The first sample begins with the first segment, not with its ACK. */
	if (!westwood->began_us) {
		westwood->began_us = now_us - (tp->srtt_us >> 3);
		westwood->delivered = tp->delivered;
	}
	span_us = now_us - westwood->began_us;
	if (!westwood->min_us || span_us < max(tp->srtt_us >> 3, LEAST_SPAN_US))
		return;
	rate = ((__u64)(tp->delivered - westwood->delivered) << SHIFT) * 1000000 / span_us;
	if (westwood->rate) {
		westwood->first_rate = (7 * westwood->first_rate + rate) / 8;
		westwood->rate = (7 * westwood->rate + westwood->first_rate) / 8;
	} else {
		westwood->first_rate = rate;
		westwood->rate = rate;
	}
	westwood->began_us = now_us;
	westwood->delivered = tp->delivered;
}

void hook(cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	grow(tcp_of(sk), tcp_of(sk)->snd_cwnd, acked);
}

static __always_inline __u32 holds(struct sock *sk)
{
	struct own *westwood = own(sk);

	return max((__u32)(westwood->rate * westwood->min_us / 1000000 >> SHIFT), LEAST_WINDOW);
}

__u32 hook(ssthresh, struct sock *sk)
{
	return share(tcp_of(sk), 1, 2);
}

void hook(cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct own *westwood = own(sk);

	if (!westwood->rate)
		return;
	if (event == CA_EVENT_COMPLETE_CWR) {
		tp->snd_ssthresh = holds(sk);
		tp->snd_cwnd = tp->snd_ssthresh;
	} else if (event == CA_EVENT_LOSS) {
		tp->snd_ssthresh = holds(sk);
		westwood->min_us = 0;
	}
}

NARROWS_VARIANT(westwood, SSTHRESH, CONG_AVOID, PKTS_ACKED, CWND_EVENT);
