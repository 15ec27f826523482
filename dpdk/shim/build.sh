#!/bin/sh
# Compiles the shim for this machine's libdpdk: build.sh OUT.so. A build of the engine does this
# itself (../build.rs, which has the same flags); this is for NARROWS_DPDK_SHIMS, shims of other
# releases of DPDK.
set -eu
case $(uname -m) in x86_64) march=-march=corei7 ;; *) march= ;; esac
# shellcheck disable=SC2046,SC2086
cc -O3 -fPIC -shared -Wall -Wl,--no-undefined -DALLOW_EXPERIMENTAL_API -include rte_config.h $march \
	$(pkg-config --cflags-only-I libdpdk) -o "$1" "$(dirname "$0")"/*.c \
	$(pkg-config --libs-only-L libdpdk) \
	-lrte_ethdev -lrte_mempool -lrte_mbuf -lrte_ring -lrte_net_ring -lrte_eal
