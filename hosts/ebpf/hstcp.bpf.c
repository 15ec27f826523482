// SPDX-License-Identifier: GPL-2.0
/*
 * HighSpeed TCP (RFC 3649): Reno up to 38 segments. Above (section 5), a round trip adds a(w)
 * segments and a loss multiplies the window by 1 - b(w), with p(w) = 0.078/w^1.2, b(w) = 0.5 - 0.4
 * (ln w - ln 38)/(ln 83000 - ln 38) and a(w) = 2 w^2 p(w) b(w)/(2 - b(w)).
 *
 * The table has both at every half octave by these formulas; values between are interpolated,
 * within 1 %. Not implemented: limited slow start (RFC 3742).
 */
#include "narrows.bpf.h"

struct row {
	__u32 w;
	__u32 a; /* in 1/256 */
	__u32 b; /* in 1/1024 */
};

#define ROWS 24
#define A_SCALE 256U
#define B_SCALE 1024U

const struct row table[ROWS] = {
	{ 38, 256, 512 },
	{ 54, 308, 493 },
	{ 76, 386, 475 },
	{ 107, 482, 457 },
	{ 152, 605, 438 },
	{ 215, 756, 420 },
	{ 304, 943, 401 },
	{ 430, 1174, 383 },
	{ 608, 1458, 364 },
	{ 860, 1806, 346 },
	{ 1216, 2232, 327 },
	{ 1720, 2750, 309 },
	{ 2432, 3375, 290 },
	{ 3439, 4127, 272 },
	{ 4864, 5024, 254 },
	{ 6879, 6084, 235 },
	{ 9728, 7323, 217 },
	{ 13757, 8750, 198 },
	{ 19456, 10367, 180 },
	{ 27515, 12154, 161 },
	{ 38912, 14063, 143 },
	{ 55030, 16001, 124 },
	{ 77824, 17806, 106 },
	{ 83000, 18108, 102 },
};

/* a and b of a window. */
static __always_inline struct row row_of(__u32 w)
{
	struct row found = table[0];

	for (int i = 1; i < ROWS; i++) {
		struct row low = table[i - 1], high = table[i];

		if (w < low.w)
			break;
		if (w >= high.w) {
			found = high;
			continue;
		}
		found.a = low.a + (__u64)(high.a - low.a) * (w - low.w) / (high.w - low.w);
		found.b = low.b - (__u64)(low.b - high.b) * (w - low.w) / (high.w - low.w);
	}
	return found;
}

void hook(cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_of(sk);

	grow(tp, (__u64)tp->snd_cwnd * A_SCALE / row_of(tp->snd_cwnd).a, acked);
}

__u32 hook(ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);

	return share(tp, B_SCALE - row_of(tp->snd_cwnd).b, B_SCALE);
}

NARROWS_VARIANT(hstcp, SSTHRESH, CONG_AVOID);
