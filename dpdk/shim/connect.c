/* Ports are probed, started and closed here: memif needs an order between these. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>

#include "shim.h"

/* Held while a device is probed or started, or a memif closes: see nrw_port_close. */
static pthread_mutex_t connecting = PTHREAD_MUTEX_INITIALIZER;

int nrw_device_probe(const char *device)
{
	int code;

	pthread_mutex_lock(&connecting);
	code = rte_dev_probe(device);
	pthread_mutex_unlock(&connecting);
	return code < 0 ? failure(code) : 0;
}

/* Starts a configured port, or restarts a started one. */
int nrw_port_start(uint16_t port)
{
	int code;

	pthread_mutex_lock(&connecting);
	rte_eth_dev_stop(port);
	code = rte_eth_dev_start(port);
	pthread_mutex_unlock(&connecting);
	if (code != 0)
		return code;
	/* A switch must receive frames for any address. */
	code = rte_eth_promiscuous_enable(port);
	return code == -ENOTSUP ? 0 : code;
}

/* What the interrupt thread is asked to do; guarded by `connecting`. */
static int request_fd = -1;
static uint16_t requested_port;
static int is_requested;

static void close_now(uint16_t port)
{
	rte_eth_dev_stop(port);
	rte_eth_dev_close(port);
}

static void answer(void *argument)
{
	uint64_t count;

	(void)argument;
	if (read(request_fd, &count, sizeof(count)) != sizeof(count))
		return;
	if (requested_port != RTE_MAX_ETHPORTS)
		close_now(requested_port);
	__atomic_store_n(&is_requested, 0, __ATOMIC_RELEASE);
}

/* A descriptor that EAL's interrupt thread reads; below zero if there is none. */
static int request_descriptor(void)
{
	struct rte_intr_handle *handle;
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	if (fd < 0)
		return fd;
	handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (handle != NULL && rte_intr_fd_set(handle, fd) == 0 &&
	    rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT) == 0 &&
	    rte_intr_callback_register(handle, answer, NULL) == 0)
		return fd;
	rte_intr_instance_free(handle);
	close(fd);
	return -1;
}

/*
 * Closes the port, or none (RTE_MAX_ETHPORTS), on EAL's interrupt thread, and waits for it. The
 * thread handles events in batches; a request after another one's end is in a later batch.
 */
static int request(uint16_t port)
{
	const uint64_t one = 1;

	if (request_fd < 0 && (request_fd = request_descriptor()) < 0)
		return -1;
	requested_port = port;
	__atomic_store_n(&is_requested, 1, __ATOMIC_RELEASE);
	if (write(request_fd, &one, sizeof(one)) != sizeof(one))
		return -1;
	while (__atomic_load_n(&is_requested, __ATOMIC_ACQUIRE))
		rte_delay_us_sleep(100);
	return 0;
}

/*
 * A memif's other end may disconnect at any time; EAL's interrupt thread then frees the port's
 * memory. So that thread closes a memif: two at once crash. Other drivers may wait for it.
 *
 * An event of the closed connection may still be in that thread's batch. It would go to a new
 * connection with the same descriptor, whose handler waits for a message that only this thread
 * could send. So no connection begins until the batch is over, and none is left to be accepted.
 */
void nrw_port_close(uint16_t port)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(port, &info) != 0 || strcmp(info.driver_name, "net_memif") != 0) {
		close_now(port);
		return;
	}
	pthread_mutex_lock(&connecting);
	request(RTE_MAX_ETHPORTS);
	if (request(port) != 0)
		close_now(port);
	request(RTE_MAX_ETHPORTS);
	pthread_mutex_unlock(&connecting);
}
