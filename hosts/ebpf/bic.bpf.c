// SPDX-License-Identifier: GPL-2.0
/*
 * BIC (Xu, Harfoush, Rhee, INFOCOM 2004): binary search for the window of the last loss.
 *
 * With W the window and Wmax the window at the last loss, each round trip adds (Wmax - W)/4
 * segments below Wmax, at most 16, and 4/20 once that is at most 1; then 4/20 up to Wmax + 4, (W -
 * Wmax)/3 up to Wmax + 48, and 16 above. Before the first loss W grows by at least 5 %. A loss
 * multiplies W by beta = 819/1024; if W was below Wmax, Wmax becomes W (1 + beta)/2. Up to 14
 * segments BIC is Reno. A time-out resets Wmax.
 *
 * Constants: Linux's tcp_bic. Not implemented: its estimate of the delayed-ACK ratio; the kernel
 * counts segments here, not ACKs.
 */
#include "narrows.bpf.h"

#define LOW_WINDOW 14U
#define MAX_STEP 16U
#define DIVISOR 4U
#define SMOOTH_PART 20U
#define BETA 819U
#define BETA_SCALE 1024U

struct own {
	__u32 w_max; /* 0 before a loss */
};

/* Segments acknowledged per segment added. */
static __always_inline __u32 acked_for_one(__u32 cwnd, __u32 w_max)
{
	__u32 smooth = cwnd * SMOOTH_PART / DIVISOR, w;

	if (cwnd <= LOW_WINDOW)
		return cwnd;
	if (cwnd < w_max) {
		__u32 gap = w_max - cwnd;

		if (gap > MAX_STEP * DIVISOR)
			w = cwnd / MAX_STEP;
		else
			w = gap <= DIVISOR ? smooth : cwnd * DIVISOR / gap;
	} else if (cwnd < w_max + DIVISOR) {
		w = smooth;
	} else if (cwnd < w_max + MAX_STEP * (DIVISOR - 1)) {
		w = cwnd * (DIVISOR - 1) / (cwnd - w_max);
	} else {
		w = cwnd / MAX_STEP;
	}
	/* 5 % per round trip. */
	return w_max ? w : min(w, 20U);
}

void hook(cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_of(sk);

	grow(tp, acked_for_one(tp->snd_cwnd, own(sk)->w_max), acked);
}

__u32 hook(ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct own *bic = own(sk);
	__u32 cwnd = tp->snd_cwnd;

	bic->w_max = cwnd < bic->w_max ? cwnd * (BETA_SCALE + BETA) / (2 * BETA_SCALE) : cwnd;
	return cwnd <= LOW_WINDOW ? share(tp, 1, 2) : share(tp, BETA, BETA_SCALE);
}

void hook(set_state, struct sock *sk, __u8 state)
{
	if (state == TCP_CA_Loss)
		own(sk)->w_max = 0;
}

NARROWS_VARIANT(bic, SSTHRESH, CONG_AVOID, SET_STATE);
