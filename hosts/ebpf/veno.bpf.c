// SPDX-License-Identifier: GPL-2.0
/*
 * Veno (Fu, Liew, JSAC 2003): N = cwnd (1 - base/RTT) segments in the queue distinguish random
 * losses from congestion. With N < 3 growth is Reno's and a loss multiplies the window by 4/5.
 * Otherwise the window grows by a segment every second round trip, and a loss halves it. Before
 * three samples it is Reno.
 *
 * Constants: beta 3, 4/5 (the paper, Linux). RTT is the latest sample; the paper uses a round's
 * mean.
 */
#include "narrows.bpf.h"

#define BETA 3U
#define LEAST_SAMPLES 3U

struct own {
	__u32 base_us;
	__u32 latest_us;
	__u32 samples;
};

static __always_inline bool is_congested(const struct tcp_sock *tp, const struct own *veno)
{
	__u64 in_queue;

	if (veno->samples < LEAST_SAMPLES)
		return false;
	in_queue = (__u64)tp->snd_cwnd * (veno->latest_us - veno->base_us);
	return in_queue >= (__u64)BETA * veno->latest_us;
}

void hook(pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct own *veno = own(sk);
	__s32 rtt_us = sample->rtt_us;

	if (rtt_us <= 0)
		return;
	veno->latest_us = rtt_us;
	if (!veno->samples || rtt_us < veno->base_us)
		veno->base_us = rtt_us;
	veno->samples++;
}

void hook(cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_of(sk);

	grow(tp, is_congested(tp, own(sk)) ? 2 * tp->snd_cwnd : tp->snd_cwnd, acked);
}

__u32 hook(ssthresh, struct sock *sk)
{
	struct own *veno = own(sk);

	if (veno->samples >= LEAST_SAMPLES && !is_congested(tcp_of(sk), veno))
		return share(tcp_of(sk), 4, 5);
	return share(tcp_of(sk), 1, 2);
}

NARROWS_VARIANT(veno, SSTHRESH, CONG_AVOID, PKTS_ACKED);
