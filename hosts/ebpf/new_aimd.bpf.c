// SPDX-License-Identifier: GPL-2.0
/*
 * New-AIMD (Jasem, Zukarnain, Othman, Subramaniam, ITJ 2010): every event halves the base, and
 * never the additive part: w' = w - b/2, b' = b/2. Derived from the paper's equations.
 */
#include "based.bpf.h"

__u32 hook(ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);
	__u32 cwnd = tp->snd_cwnd, cut = cut_of(tp, own(sk), 2);

	own(sk)->base = (own(sk)->base ? min(own(sk)->base, cwnd) : cwnd) - cut;
	return max(cwnd - cut, LEAST_WINDOW);
}

NARROWS_VARIANT(new_aimd, SSTHRESH, CONG_AVOID, SET_STATE);
