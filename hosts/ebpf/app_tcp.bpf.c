// SPDX-License-Identifier: GPL-2.0
/*
 * AppTCP (Wang 2013): a control loop around the rate that the application requests.
 *
 * cwnd_base = rate x RTTbase/MSS. Below it the window is in slow start. Above, cwnd is compared
 * with rate x RTT/MSS: for each 10 segments acknowledged it grows by one while it is below, and
 * shrinks by one while it is above. A loss sets cwnd to cwnd_base. The window stays within twice
 * cwnd_base; the paper has no limit. The paper's printed algorithm has a wrong sign; this follows
 * its text.
 *
 * The rate, in payload bytes per second, is the socket's entry in the map `nw_app_tcp_rate`;
 * without an entry it is Reno.
 */
#include "narrows.bpf.h"

#define AI_CNT 10U
#define MOST 2U
#define SECOND_US 1000000ULL

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} nw_app_tcp_rate SEC(".maps");

struct own {
	__u32 base_us;
	__u32 latest_us;
	__u32 counted;
};

/* Segments per round trip of `rtt_us` at the rate, rounded; 0 without a rate. */
static __always_inline __u32 segments(struct sock *sk, __u32 rtt_us)
{
	__u64 *rate = bpf_sk_storage_get(&nw_app_tcp_rate, sk, 0, 0);
	__u64 bytes, mss = tcp_of(sk)->mss_cache;

	if (!rate || !*rate || !mss)
		return 0;
	bytes = *rate * rtt_us / SECOND_US;
	return (bytes + mss / 2) / mss;
}

void hook(pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct own *app = own(sk);
	__s32 rtt_us = sample->rtt_us;

	if (rtt_us <= 0)
		return;
	app->latest_us = rtt_us;
	if (!app->base_us || rtt_us < app->base_us)
		app->base_us = rtt_us;
}

void hook(cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct own *app = own(sk);
	__u32 base = max(segments(sk, app->base_us), LEAST_WINDOW), cwnd = tp->snd_cwnd;
	__u32 wanted = segments(sk, app->latest_us), steps;

	if (!is_limited(tp))
		return;
	if (!wanted) {
		grow(tp, cwnd, acked);
		return;
	}
	if (cwnd < base) {
		tp->snd_cwnd = min(cwnd + acked, tp->snd_cwnd_clamp);
		return;
	}
	app->counted += acked;
	steps = app->counted / AI_CNT;
	app->counted %= AI_CNT;
	if (cwnd < wanted)
		cwnd = min(cwnd + steps, max(MOST * base, cwnd));
	else if (cwnd > wanted)
		cwnd = cwnd > steps + LEAST_WINDOW ? cwnd - steps : LEAST_WINDOW;
	tp->snd_cwnd = min(cwnd, tp->snd_cwnd_clamp);
}

__u32 hook(ssthresh, struct sock *sk)
{
	__u32 base = segments(sk, own(sk)->base_us);

	return base ? max(base, LEAST_WINDOW) : share(tcp_of(sk), 1, 2);
}

NARROWS_VARIANT(app_tcp, SSTHRESH, CONG_AVOID, PKTS_ACKED);
