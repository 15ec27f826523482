"""Background traffic of a scenario for DPDK pktgen. `profile` converts a stream's messages to
phases of constant rate; `script` writes them as Lua for pktgen.
"""
