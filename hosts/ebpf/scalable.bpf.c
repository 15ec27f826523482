// SPDX-License-Identifier: GPL-2.0
/*
 * Scalable TCP (Kelly, CCR 2003): adds one segment per min(cwnd, 50) acknowledged; a loss removes
 * an eighth. Constants: Linux's tcp_scalable (the paper has 100). Not implemented: the paper's
 * legacy window.
 */
#include "narrows.bpf.h"

#define AI_CNT 50U

void hook(cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	grow(tcp_of(sk), min(tcp_of(sk)->snd_cwnd, AI_CNT), acked);
}

__u32 hook(ssthresh, struct sock *sk)
{
	__u32 cwnd = tcp_of(sk)->snd_cwnd;

	return max(cwnd - (cwnd >> 3), LEAST_WINDOW);
}

NARROWS_VARIANT(scalable, SSTHRESH, CONG_AVOID);
