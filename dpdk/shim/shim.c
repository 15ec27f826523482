/*
 * The part of DPDK that Rust can't call: inline functions, macros, and structures with layouts that
 * change between releases. Nothing here makes decisions; src/sys.rs declares these functions.
 *
 * Functions that can fail return 0 or a negative errno.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>
#include <rte_ring.h>
#include <rte_version.h>

#include "shim.h"

/* Offloads; src/port.rs has the same values. */
enum { VERIFIES = 1, STAMPS = 2, WRITES = 4 };

/* The environment. */

const char *nrw_version(void)
{
	return rte_version();
}

static void (*log_line)(const char *text, size_t length);

static ssize_t log_write(void *cookie, const char *text, size_t length)
{
	(void)cookie;
	log_line(text, length);
	return (ssize_t)length;
}

int nrw_log_to(void (*line)(const char *, size_t))
{
	const cookie_io_functions_t to = { .write = log_write };
	FILE *stream = fopencookie(NULL, "w", to);

	if (stream == NULL)
		return -errno;
	log_line = line;
	setvbuf(stream, NULL, _IOLBF, 0);
	return rte_openlog_stream(stream);
}

/* EAL pins the thread that starts it; our threads go where the scheduler puts them. */
int nrw_eal_start(int argc, char **argv)
{
	cpu_set_t before;
	int saved = pthread_getaffinity_np(pthread_self(), sizeof(before), &before) == 0;
	int code = rte_eal_init(argc, argv);

	if (saved)
		pthread_setaffinity_np(pthread_self(), sizeof(before), &before);
	return code < 0 ? failure(code) : 0;
}

int nrw_first_cpu(void)
{
	cpu_set_t set;

	if (pthread_getaffinity_np(pthread_self(), sizeof(set), &set) == 0)
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &set))
				return cpu;
	return 0;
}

/* Schedules this thread before all ordinary threads. */
int nrw_thread_fifo(void)
{
	const struct sched_param lowest = { .sched_priority = 1 };

	return -pthread_setschedparam(pthread_self(), SCHED_FIFO, &lowest);
}

int nrw_thread_register(void)
{
	return rte_lcore_id() != LCORE_ID_ANY || rte_thread_register() == 0 ? 0 : failure(-1);
}

/* The clock. */

uint64_t nrw_tsc(void)
{
	return rte_rdtsc_precise();
}

uint64_t nrw_raw_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Memory. */

int nrw_pool_create(const char *name, unsigned int count, unsigned int data_bytes,
		    struct rte_mempool **pool)
{
	*pool = rte_pktmbuf_pool_create(name, count, count < 512 ? 0 : 256, 0,
					(uint16_t)(data_bytes + RTE_PKTMBUF_HEADROOM),
					SOCKET_ID_ANY);
	return *pool ? 0 : failure(-1);
}

unsigned int nrw_pool_available(const struct rte_mempool *pool)
{
	return rte_mempool_avail_count(pool);
}

/* Free mbufs, without those in threads' caches; reading it takes no time. */
unsigned int nrw_pool_stock(const struct rte_mempool *pool)
{
	return rte_mempool_get_ops(pool->ops_index)->get_count(pool);
}

struct rte_mbuf *nrw_mbuf_alloc(struct rte_mempool *pool)
{
	return rte_pktmbuf_alloc(pool);
}

/* Fills `mbufs` with this many, or with none if the pool has fewer; returns 0 or below. */
int nrw_mbuf_alloc_bulk(struct rte_mempool *pool, struct rte_mbuf **mbufs, unsigned int count)
{
	return rte_pktmbuf_alloc_bulk(pool, mbufs, count);
}

void nrw_mbuf_free_bulk(struct rte_mbuf **mbufs, unsigned int count)
{
	rte_pktmbuf_free_bulk(mbufs, count);
}

void nrw_mbuf_free(struct rte_mbuf *mbuf)
{
	rte_pktmbuf_free(mbuf);
}

/* The bytes of an mbuf of one segment, as nrw_receive gives them. */
uint8_t *nrw_mbuf_data(struct rte_mbuf *mbuf, uint32_t *length)
{
	*length = rte_pktmbuf_data_len(mbuf);
	return rte_pktmbuf_mtod(mbuf, uint8_t *);
}

/* Keeps `length` bytes of an mbuf from `start` on, with `front` bytes before them; NULL if there is
 * no room. */
uint8_t *nrw_mbuf_frame(struct rte_mbuf *mbuf, uint32_t start, uint32_t length, uint32_t front)
{
	uint32_t at = mbuf->data_off + start;

	if (front > at || front + length > UINT16_MAX)
		return NULL;
	mbuf->data_off = (uint16_t)(at - front);
	mbuf->data_len = (uint16_t)(front + length);
	mbuf->pkt_len = front + length;
	return rte_pktmbuf_mtod(mbuf, uint8_t *);
}

/* Makes an mbuf `length` bytes long by moving its end; NULL if there is no room. */
uint8_t *nrw_mbuf_set_length(struct rte_mbuf *mbuf, uint32_t length)
{
	uint32_t before = rte_pktmbuf_data_len(mbuf);

	if (length > before) {
		if (rte_pktmbuf_append(mbuf, (uint16_t)(length - before)) == NULL)
			return NULL;
	} else if (rte_pktmbuf_trim(mbuf, (uint16_t)(before - length)) != 0) {
		return NULL;
	}
	return rte_pktmbuf_mtod(mbuf, uint8_t *);
}

/* Ports. */

int nrw_device_port(const char *name, uint16_t *port)
{
	return rte_eth_dev_get_port_by_name(name, port);
}

/* Two ports; each receives what the other sends. */
int nrw_ring_pair(const char *const names[2], unsigned int packets, uint16_t ports[2])
{
	struct rte_ring *rings[2] = { NULL, NULL };

	for (int i = 0; i < 2; i++) {
		rings[i] = rte_ring_create(names[i], packets, SOCKET_ID_ANY,
					   RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (rings[i] == NULL) {
			rte_ring_free(rings[0]);
			return failure(-1);
		}
	}
	for (int i = 0; i < 2; i++) {
		int port = rte_eth_from_rings(names[i], &rings[i], 1, &rings[1 - i], 1, 0);

		if (port < 0)
			return failure(-1);
		ports[i] = (uint16_t)port;
	}
	return 0;
}

static int stamp_at = -1;
static uint64_t stamp_flag;

/*
 * Requests `offloads`, and returns those that the device has. A card distributes packets over
 * several receive queues by flow; other devices have other rules.
 */
int nrw_port_set_up(uint16_t port, struct rte_mempool *pool, uint16_t descriptors, uint16_t queues,
		    unsigned int *offloads)
{
	const uint64_t checksums = RTE_ETH_RX_OFFLOAD_CHECKSUM;
	const uint64_t sums = RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM;
	struct rte_eth_conf conf;
	struct rte_eth_dev_info info;
	uint16_t rx = descriptors, tx = descriptors;
	int code;

	memset(&conf, 0, sizeof(conf));
	if ((code = rte_eth_dev_info_get(port, &info)) != 0)
		return code;
	if (~info.rx_offload_capa & checksums)
		*offloads &= ~VERIFIES;
	if (~info.tx_offload_capa & sums)
		*offloads &= ~WRITES;
	if (~info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP ||
	    (*offloads & STAMPS &&
	     rte_mbuf_dyn_rx_timestamp_register(&stamp_at, &stamp_flag) != 0))
		*offloads &= ~STAMPS;
	if (*offloads & VERIFIES)
		conf.rxmode.offloads |= checksums;
	if (*offloads & STAMPS)
		conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	if (*offloads & WRITES)
		conf.txmode.offloads |= sums;
	conf.rx_adv_conf.rss_conf.rss_hf =
		info.flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP);
	if (queues > 1 && conf.rx_adv_conf.rss_conf.rss_hf != 0)
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	if ((code = rte_eth_dev_configure(port, queues, 1, &conf)) != 0)
		return code;
	if ((code = rte_eth_dev_adjust_nb_rx_tx_desc(port, &rx, &tx)) != 0)
		return code;
	info.default_txconf.offloads = conf.txmode.offloads;
	for (uint16_t queue = 0; queue < queues; queue++)
		if ((code = rte_eth_rx_queue_setup(port, queue, rx, SOCKET_ID_ANY, NULL, pool)) != 0)
			return code;
	return rte_eth_tx_queue_setup(port, 0, tx, SOCKET_ID_ANY, &info.default_txconf);
}

/* Whether the device verified both checksums of an mbuf. */
int nrw_mbuf_is_checked(const struct rte_mbuf *mbuf)
{
	const uint64_t mask = RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK;

	return (mbuf->ol_flags & mask) == (RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD);
}

/* Lets the device write the transport's checksum after an IPv4 header without options. */
void nrw_mbuf_leave_checksum(struct rte_mbuf *mbuf, int is_udp, uint8_t header_bytes)
{
	mbuf->l2_len = RTE_ETHER_HDR_LEN;
	mbuf->l3_len = sizeof(struct rte_ipv4_hdr);
	mbuf->l4_len = header_bytes;
	mbuf->ol_flags |= RTE_MBUF_F_TX_IPV4;
	mbuf->ol_flags |= is_udp ? RTE_MBUF_F_TX_UDP_CKSUM : RTE_MBUF_F_TX_TCP_CKSUM;
}

/* The receive time by the clock of nrw_port_clock; 0 if the device reports none. */
int nrw_mbuf_stamp(const struct rte_mbuf *mbuf, uint64_t *ticks)
{
	if (stamp_at < 0 || !(mbuf->ol_flags & stamp_flag))
		return 0;
	*ticks = *RTE_MBUF_DYNFIELD(mbuf, stamp_at, const rte_mbuf_timestamp_t *);
	return 1;
}

int nrw_port_clock(uint16_t port, uint64_t *ticks)
{
	return rte_eth_read_clock(port, ticks);
}

int nrw_port_set_link(uint16_t port, int up)
{
	return up ? rte_eth_dev_set_link_up(port) : rte_eth_dev_set_link_down(port);
}

void nrw_port_reset_counts(uint16_t port)
{
	rte_eth_stats_reset(port);
}

int nrw_port_is_up(uint16_t port)
{
	struct rte_eth_link link;

	memset(&link, 0, sizeof(link));
	return rte_eth_link_get_nowait(port, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

/* received, sent, missed, errors, without_memory */
int nrw_port_counts(uint16_t port, uint64_t counts[5])
{
	struct rte_eth_stats stats;
	int code = rte_eth_stats_get(port, &stats);

	if (code == 0) {
		counts[0] = stats.ipackets;
		counts[1] = stats.opackets;
		counts[2] = stats.imissed;
		counts[3] = stats.ierrors;
		counts[4] = stats.rx_nombuf;
	}
	return code;
}

/* Receives packets as one segment each; counts packets that can't be linearised. */
uint16_t nrw_receive(uint16_t port, uint16_t queue, struct rte_mbuf **packets, uint16_t most,
		     uint64_t *broken)
{
	uint16_t got = rte_eth_rx_burst(port, queue, packets, most), kept = 0;

	for (uint16_t i = 0; i < got; i++) {
		if (packets[i]->nb_segs > 1 && rte_pktmbuf_linearize(packets[i]) != 0) {
			rte_pktmbuf_free(packets[i]);
			(*broken)++;
		} else {
			packets[kept++] = packets[i];
		}
	}
	return kept;
}

uint16_t nrw_transmit(uint16_t port, struct rte_mbuf **packets, uint16_t count)
{
	/* Devices differ in the checksum fields that they expect. */
	count = rte_eth_tx_prepare(port, 0, packets, count);
	return rte_eth_tx_burst(port, 0, packets, count);
}
