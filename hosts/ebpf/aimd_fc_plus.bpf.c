// SPDX-License-Identifier: GPL-2.0
/*
 * AIMD-FC+, by our own definition (see hosts/src/cc/aimd_fc_plus.rs): AIMD-FC that cuts the base by
 * a quarter, not by half, if the windows at the last two events differ by at most one segment.
 */
#include "based.bpf.h"

__u32 hook(ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct own *based = own(sk);
	__u32 peak = tp->snd_cwnd, last = based->last_peak;
	bool is_steady = last && last <= peak + 1 && peak <= last + 1;

	based->base = max(peak - cut_of(tp, based, is_steady ? 4 : 2), LEAST_WINDOW);
	based->last_peak = peak;
	return based->base;
}

NARROWS_VARIANT(aimd_fc_plus, SSTHRESH, CONG_AVOID, SET_STATE);
