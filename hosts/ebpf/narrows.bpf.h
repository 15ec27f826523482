/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the variants: the kernel's types and functions, round-trip samples, a cut.
 *
 * The kernel counts its window in segments. tcp_cong_avoid_ai(tp, w, acked), which adds one segment
 * per w acknowledged, keeps smaller growth in snd_cwnd_cnt. Fractions are fixed point, as each file
 * says, because BPF has no floating point. A variant's own state has the 104 bytes of
 * icsk_ca_priv.
 *
 * testbed/targets/linux/variants.py generates vmlinux.h from the running kernel for each build.
 */
#ifndef NARROWS_BPF_H
#define NARROWS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

extern __u32 tcp_slow_start(struct tcp_sock *tp, __u32 acked) __ksym;
extern void tcp_cong_avoid_ai(struct tcp_sock *tp, __u32 w, __u32 acked) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

char _license[] SEC("license") = "GPL";

#define LEAST_WINDOW 2U
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define within(low, x, high) max(low, min(x, high))

/* The connection, and the variant's own state in it. */
#define tcp_of(sk) ((struct tcp_sock *)(sk))
#define own(sk) ((struct own *)((struct inet_connection_sock *)(sk))->icsk_ca_priv)

/* Hooks, by their names in struct tcp_congestion_ops. */
#define hook(name, ...) SEC("struct_ops/" #name) BPF_PROG(on_##name, ##__VA_ARGS__)

static __always_inline bool is_after(__u32 a, __u32 b)
{
	return (__s32)(a - b) > 0;
}

static __always_inline bool is_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

/* Whether the window limits the sender; otherwise it must not grow (RFC 9438 section 5.8). */
static __always_inline bool is_limited(const struct tcp_sock *tp)
{
	return tp->is_cwnd_limited || (is_slow_start(tp) && tp->snd_cwnd < 2 * tp->max_packets_out);
}

/* Slow start up to the threshold; returns the rest of `acked`. */
static __always_inline __u32 slow_start(struct tcp_sock *tp, __u32 acked)
{
	return is_slow_start(tp) ? tcp_slow_start(tp, acked) : acked;
}

/* Slow start, then one segment per `w` acknowledged, if the window is in use. */
static __always_inline void grow(struct tcp_sock *tp, __u32 w, __u32 acked)
{
	if (!is_limited(tp))
		return;
	acked = slow_start(tp, acked);
	if (acked)
		tcp_cong_avoid_ai(tp, max(w, 1U), acked);
}

/* `numerator`/`denominator` of the window, at least two segments. */
static __always_inline __u32 share(const struct tcp_sock *tp, __u32 numerator, __u32 denominator)
{
	return max((__u32)((__u64)tp->snd_cwnd * numerator / denominator), LEAST_WINDOW);
}

/* The samples of a round trip, in microseconds. */
struct rounds {
	__u32 base_us;	/* the least of the connection, 0 before a sample */
	__u32 max_us;	/* the greatest of the connection */
	__u32 least_us; /* the least of this round */
	__u32 samples;
	__u64 sum_us;
	__u32 end_seq; /* the round ends when this is acknowledged */
};

static __always_inline void take_sample(struct rounds *rounds, const struct ack_sample *sample)
{
	__s32 rtt_us = sample->rtt_us;

	if (rtt_us <= 0)
		return;
	if (!rounds->base_us || rtt_us < rounds->base_us)
		rounds->base_us = rtt_us;
	if (!rounds->samples || rtt_us < rounds->least_us)
		rounds->least_us = rtt_us;
	if (rtt_us > rounds->max_us)
		rounds->max_us = rtt_us;
	rounds->sum_us += rtt_us;
	rounds->samples++;
}

/* Whether the ACK ends a round: the data outstanding at the end of the last one is acknowledged. */
static __always_inline bool ends_round(struct rounds *rounds, const struct tcp_sock *tp, __u32 ack)
{
	/* The first ACK begins the first round, because sequence numbers begin anywhere. */
	if (rounds->end_seq && !is_after(ack, rounds->end_seq))
		return false;
	rounds->end_seq = tp->snd_nxt;
	return true;
}

static __always_inline void begin_round(struct rounds *rounds)
{
	rounds->samples = 0;
	rounds->sum_us = 0;
}

SEC("struct_ops/undo_cwnd") __u32 BPF_PROG(on_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

/* The variant's record: its name in the kernel, and its hooks. */
#define NARROWS_VARIANT(variant, ...)                                                              \
	SEC(".struct_ops") struct tcp_congestion_ops nw_##variant = {                              \
		.undo_cwnd = (void *)on_undo_cwnd, .name = "nw_" #variant, __VA_ARGS__ }

#define SSTHRESH .ssthresh = (void *)on_ssthresh
#define CONG_AVOID .cong_avoid = (void *)on_cong_avoid
#define PKTS_ACKED .pkts_acked = (void *)on_pkts_acked
#define CWND_EVENT .cwnd_event = (void *)on_cwnd_event
#define SET_STATE .set_state = (void *)on_set_state

#endif
