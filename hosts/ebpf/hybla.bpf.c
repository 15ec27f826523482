// SPDX-License-Identifier: GPL-2.0
/*
 * Hybla (Caini, Firrincieli, IJSCN 2004): grows over a long path as fast as Reno over one of 25 ms.
 *
 * rho = max(1, SRTT/25 ms), of which only decreases of SRTT count. Slow start adds 2^rho - 1
 * segments per segment acknowledged, up to the threshold; congestion avoidance adds rho^2 per round
 * trip; a loss halves the window.
 *
 * Constants: RTT0 25 ms (the paper); rho at most 16 in slow start (Linux). rho is in eighths, the
 * window's fraction in 1/128 of a segment. Not implemented: the paper's initial window and
 * threshold times rho, and its packet spacing.
 */
#include "narrows.bpf.h"

#define RTT0_US 25000U
#define GREATEST_EXPONENT (16U << 3)
#define ONE 128U

struct own {
	__u32 least_srtt_us; /* in eighths, as the kernel keeps it */
	__u32 rho;	     /* in eighths */
	__u64 fraction;	     /* of the window, in 1/128 */
};

/* 2^(k/8) in 1/128. */
const __u32 eighth_powers[8] = { 128, 140, 152, 166, 181, 197, 215, 235 };

void hook(pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct own *hybla = own(sk);
	__u32 srtt_us = tcp_of(sk)->srtt_us;

	if (srtt_us && (!hybla->least_srtt_us || srtt_us < hybla->least_srtt_us)) {
		hybla->least_srtt_us = srtt_us;
		hybla->rho = max(srtt_us / RTT0_US, 8U);
	}
}

void hook(cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct own *hybla = own(sk);
	__u32 rho = max(hybla->rho, 8U), cwnd = tp->snd_cwnd;
	__u64 step;

	if (!is_limited(tp))
		return;
	if (is_slow_start(tp)) {
		__u32 exponent = min(rho, GREATEST_EXPONENT);

		step = ((__u64)eighth_powers[exponent & 7] << (exponent >> 3)) - ONE;
		hybla->fraction += step * acked;
		cwnd = min(cwnd + (__u32)(hybla->fraction / ONE), tp->snd_ssthresh);
	} else {
		/* rho^2 is in 1/64. */
		hybla->fraction += 2ULL * rho * rho * acked / cwnd;
		cwnd += hybla->fraction / ONE;
	}
	hybla->fraction %= ONE;
	tp->snd_cwnd = min(cwnd, tp->snd_cwnd_clamp);
}

__u32 hook(ssthresh, struct sock *sk)
{
	own(sk)->fraction = 0;
	return share(tcp_of(sk), 1, 2);
}

NARROWS_VARIANT(hybla, SSTHRESH, CONG_AVOID, PKTS_ACKED);
