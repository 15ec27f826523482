// SPDX-License-Identifier: GPL-2.0
/*
 * AIMD-FC (Lahanas, Tsaoussidis, Computer Networks 43, 2003): a loss halves only the window x left
 * by the previous event: w' = x/2 + k, with k the growth since; w' is the next x. Reconstructed
 * from the abstract and from Jasem 2010, because the paper's full text was not available.
 */
#include "based.bpf.h"

__u32 hook(ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);

	own(sk)->base = max(tp->snd_cwnd - cut_of(tp, own(sk), 2), LEAST_WINDOW);
	return own(sk)->base;
}

NARROWS_VARIANT(aimd_fc, SSTHRESH, CONG_AVOID, SET_STATE);
