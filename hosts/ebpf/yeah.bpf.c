// SPDX-License-Identifier: GPL-2.0
/*
 * YeAH (Baiocchi, Castellani, Vacirca, PFLDnet 2007): Scalable while the queue is short, else Reno.
 *
 * Once per round trip with at least three samples, with RTT their minimum, Q = cwnd (1 - base/RTT).
 * Fast mode, while Q <= 80 and RTT - base <= base/8: adds a segment per min(cwnd, 100)
 * acknowledged. Slow mode: Reno; with Q > 80 it also removes min(Q, cwnd/2), but not below Reno's
 * window (reno_count). A loss removes max(min(Q, cwnd/2), cwnd/8) after fewer than 16 slow rounds,
 * otherwise half.
 *
 * Constants: Linux's tcp_yeah.
 */
#include "narrows.bpf.h"

#define ALPHA 80U
#define SCALABLE_CNT 100U
#define RHO 16U
#define ZETA 50U
#define LEAST_SAMPLES 3U

struct own {
	struct rounds rounds;
	__u32 queue;
	__u32 reno_count;
	__u32 slow_rounds;
	__u32 fast_rounds;
};

static __always_inline void act_on_round(struct tcp_sock *tp, struct own *yeah)
{
	__u32 cwnd = tp->snd_cwnd, base = yeah->rounds.base_us, rtt = yeah->rounds.least_us, left;

	yeah->queue = (__u64)cwnd * (rtt - base) / rtt;
	if (yeah->queue <= ALPHA && (rtt - base) * 8 <= base) {
		yeah->slow_rounds = 0;
		if (++yeah->fast_rounds > ZETA) {
			yeah->reno_count = LEAST_WINDOW;
			yeah->fast_rounds = 0;
		}
		return;
	}
	if (yeah->queue > ALPHA && cwnd > yeah->reno_count) {
		left = cwnd - min(yeah->queue, cwnd / 2);
		tp->snd_cwnd = max(max(left, yeah->reno_count), LEAST_WINDOW);
		tp->snd_ssthresh = tp->snd_cwnd;
	}
	if (yeah->reno_count <= LEAST_WINDOW)
		yeah->reno_count = max(cwnd / 2, LEAST_WINDOW);
	else
		yeah->reno_count++;
	yeah->slow_rounds++;
}

void hook(pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	take_sample(&own(sk)->rounds, sample);
}

void hook(cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct own *yeah = own(sk);
	__u32 cwnd = tp->snd_cwnd;

	grow(tp, yeah->slow_rounds ? cwnd : min(cwnd, SCALABLE_CNT), acked);
	if (ends_round(&yeah->rounds, tp, ack)) {
		if (yeah->rounds.samples >= LEAST_SAMPLES)
			act_on_round(tp, yeah);
		begin_round(&yeah->rounds);
	}
}

__u32 hook(ssthresh, struct sock *sk)
{
	struct own *yeah = own(sk);
	__u32 cwnd = tcp_of(sk)->snd_cwnd, given_up = cwnd / 2;

	if (yeah->slow_rounds < RHO)
		given_up = max(min(yeah->queue, cwnd / 2), cwnd >> 3);
	yeah->fast_rounds = 0;
	yeah->reno_count = max(yeah->reno_count / 2, LEAST_WINDOW);
	return max(cwnd - given_up, LEAST_WINDOW);
}

NARROWS_VARIANT(yeah, SSTHRESH, CONG_AVOID, PKTS_ACKED);
