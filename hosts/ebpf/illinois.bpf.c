// SPDX-License-Identifier: GPL-2.0
/*
 * Illinois (Liu, Basar, Srikant, 2008): the queueing delay sets increase and decrease.
 *
 * Once per round trip with at least three samples, da = mean RTT - base and dm = maximum RTT -
 * base. alpha = 10 while da <= d1 = dm/100 (after da was above, only after 5 such rounds),
 * otherwise 10/(1 + (da - d1)/(dm - d1) (10 - 0.3)/0.3). beta = 1/8 up to dm/10, 1/2 from 0.8 dm,
 * linear between. Below 15 segments alpha is 1 and beta 1/2. A round trip adds alpha segments; a
 * loss multiplies the window by 1 - beta.
 *
 * Constants: Linux's tcp_illinois. alpha is in 1/128, beta in 1/1024.
 */
#include "narrows.bpf.h"

#define ALPHA_ONE 128U
#define LEAST_ALPHA (ALPHA_ONE * 3 / 10)
#define GREATEST_ALPHA (ALPHA_ONE * 10)
#define BETA_ONE 1024U
#define LEAST_BETA (BETA_ONE / 8)
#define GREATEST_BETA (BETA_ONE / 2)
#define THETA 5U
#define REAL_WINDOW 15U
#define LEAST_SAMPLES 3U

struct own {
	struct rounds rounds;
	__u32 alpha; /* 0 before a round: the greatest */
	__u32 beta;  /* 0 before a round: the greatest */
	__u32 short_rounds;
	bool was_above;
};

static __always_inline __u32 next_alpha(struct own *illinois, __u64 da, __u64 dm)
{
	__u64 d1 = dm / 100, above;

	if (da > d1) {
		illinois->was_above = true;
		/* alpha = 10 (dm - d1)/((dm - d1) + (da - d1) 97/3). */
		above = (dm - d1) * 3;
		return GREATEST_ALPHA * above / (above + (da - d1) * 97);
	}
	if (illinois->was_above) {
		if (++illinois->short_rounds < THETA)
			return illinois->alpha;
		illinois->was_above = false;
		illinois->short_rounds = 0;
	}
	return GREATEST_ALPHA;
}

static __always_inline __u32 next_beta(__u64 da, __u64 dm)
{
	if (10 * da <= dm)
		return LEAST_BETA;
	if (10 * da >= 8 * dm)
		return GREATEST_BETA;
	return LEAST_BETA + (GREATEST_BETA - LEAST_BETA) * (10 * da - dm) / (7 * dm);
}

void hook(pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	take_sample(&own(sk)->rounds, sample);
}

void hook(cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct own *illinois = own(sk);
	struct rounds *rounds = &illinois->rounds;

	if (ends_round(rounds, tp, ack)) {
		if (tp->snd_cwnd < REAL_WINDOW) {
			illinois->alpha = ALPHA_ONE;
			illinois->beta = GREATEST_BETA;
		} else if (rounds->samples >= LEAST_SAMPLES) {
			__u64 da = rounds->sum_us / rounds->samples - rounds->base_us;
			__u64 dm = rounds->max_us - rounds->base_us;

			illinois->alpha = next_alpha(illinois, da, dm);
			illinois->beta = next_beta(da, dm);
		}
		begin_round(rounds);
	}
	grow(tp, tp->snd_cwnd * ALPHA_ONE / (illinois->alpha ? illinois->alpha : GREATEST_ALPHA),
	     acked);
}

__u32 hook(ssthresh, struct sock *sk)
{
	struct own *illinois = own(sk);

	return share(tcp_of(sk), BETA_ONE - (illinois->beta ? illinois->beta : GREATEST_BETA),
		     BETA_ONE);
}

void hook(set_state, struct sock *sk, __u8 state)
{
	struct own *illinois = own(sk);

	if (state == TCP_CA_Loss) {
		illinois->alpha = ALPHA_ONE;
		illinois->beta = GREATEST_BETA;
		illinois->was_above = false;
		illinois->short_rounds = 0;
	}
}

NARROWS_VARIANT(illinois, SSTHRESH, CONG_AVOID, PKTS_ACKED, SET_STATE);
