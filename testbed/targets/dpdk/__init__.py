"""The `dpdk` target: DPDK ports in real time."""
