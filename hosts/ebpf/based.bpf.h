/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The window of Jasem's family of variants: w = x + k, where the base x is the window at an earlier
 * event, or part of it, and k is the growth since. An event cuts the base only, w' = w - x d. A
 * time-out resets the base, which is then the window at the end of slow start. (The papers do not
 * describe time-outs and slow start; this is our choice.)
 */
#ifndef NARROWS_BASED_BPF_H
#define NARROWS_BASED_BPF_H

#include "narrows.bpf.h"

struct own {
	__u32 base; /* in segments, 0 before there is one */
	__u32 last_peak;
};

void hook(cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_of(sk);

	if (!is_limited(tp))
		return;
	acked = slow_start(tp, acked);
	if (!acked)
		return;
	if (!own(sk)->base)
		own(sk)->base = tp->snd_cwnd;
	tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}

void hook(set_state, struct sock *sk, __u8 state)
{
	if (state == TCP_CA_Loss) {
		own(sk)->base = 0;
		own(sk)->last_peak = 0;
	}
}

/* The reduction of the window by a cut of the base by 1/`divisor`. */
static __always_inline __u32 cut_of(const struct tcp_sock *tp, const struct own *based,
				    __u32 divisor)
{
	__u32 base = based->base ? min(based->base, tp->snd_cwnd) : tp->snd_cwnd;

	return base / divisor;
}

#endif
