#ifndef NRW_SHIM_H
#define NRW_SHIM_H

#include <errno.h>

#include <rte_errno.h>

/* The negative errno of a failed call: its own code, or DPDK's variable. */
static inline int failure(int code)
{
	if (code < -1)
		return code;
	return rte_errno > 0 ? -rte_errno : -EIO;
}

#endif
