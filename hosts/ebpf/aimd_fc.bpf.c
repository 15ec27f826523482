// SPDX-License-Identifier: GPL-2.0
/*
 * AIMD-FC (Lahanas, Tsaoussidis, Computer Networks 43, 2003): only the window that existed right
 * after the last event is halved: w' = x/2 + k, and w' is the next x. Reconstructed from the
 * abstract and from Jasem 2010; the paper's full text was not at hand.
 */
#include "based.bpf.h"

__u32 hook(ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);

	own(sk)->base = max(tp->snd_cwnd - cut_of(tp, own(sk), 2), LEAST_WINDOW);
	return own(sk)->base;
}

NARROWS_VARIANT(aimd_fc, SSTHRESH, CONG_AVOID, SET_STATE);
