// SPDX-License-Identifier: GPL-2.0
/*
 * Vegas (Brakmo, Peterson, JSAC 1995) as Linux has it: alpha to beta segments in the queue.
 *
 * Once a round trip, of its least RTT: diff = cwnd (RTT - base)/base. In slow start diff > gamma
 * ends it with min(cwnd, cwnd base/RTT + 1); in avoidance diff > beta is one segment less, diff <
 * alpha one more. A round of less than three samples is Reno's, and so are losses.
 *
 * Constants: alpha 2, beta 4, gamma 1 (Linux). Not implemented: the paper's retransmission timer
 * and its slow start of every other round trip.
 */
#include "narrows.bpf.h"

#define ALPHA 2U
#define BETA 4U
#define GAMMA 1U
#define LEAST_SAMPLES 3U

struct own {
	struct rounds rounds;
	bool is_measured;
};

static __always_inline void act_on_round(struct tcp_sock *tp, const struct rounds *rounds,
					 __u32 acked)
{
	__u32 cwnd = tp->snd_cwnd, base = rounds->base_us, rtt = rounds->least_us;
	__u64 diff = (__u64)cwnd * (rtt - base) / base;

	if (is_slow_start(tp)) {
		if (diff > GAMMA) {
			__u32 target = (__u64)cwnd * base / rtt + 1;

			tp->snd_cwnd = max(min(cwnd, target), LEAST_WINDOW);
			tp->snd_ssthresh = tp->snd_cwnd;
		} else {
			grow(tp, cwnd, acked);
		}
	} else if (diff > BETA) {
		tp->snd_cwnd = max(cwnd - 1, LEAST_WINDOW);
		tp->snd_ssthresh = min(tp->snd_ssthresh, tp->snd_cwnd);
	} else if (diff < ALPHA) {
		tp->snd_cwnd = cwnd + 1;
	}
}

void hook(pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	take_sample(&own(sk)->rounds, sample);
}

void hook(cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct own *vegas = own(sk);

	if (ends_round(&vegas->rounds, tp, ack)) {
		vegas->is_measured = vegas->rounds.samples >= LEAST_SAMPLES;
		if (vegas->is_measured)
			act_on_round(tp, &vegas->rounds, acked);
		begin_round(&vegas->rounds);
		if (vegas->is_measured)
			return;
	}
	if (is_slow_start(tp) || !vegas->is_measured)
		grow(tp, tp->snd_cwnd, acked);
}

__u32 hook(ssthresh, struct sock *sk)
{
	own(sk)->is_measured = false;
	return share(tcp_of(sk), 1, 2);
}

NARROWS_VARIANT(vegas, SSTHRESH, CONG_AVOID, PKTS_ACKED);
