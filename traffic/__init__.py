"""Workload models (Rust, `src/`), and what sends and reads packets from Python (`scapy/`)."""
