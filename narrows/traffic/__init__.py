"""Workload models (Rust, `src/`), what sends and reads packets from Python (`scapy/`), and profiles
for DPDK's pktgen (`pktgen/`).
"""
