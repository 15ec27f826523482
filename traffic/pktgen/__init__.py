"""DPDK pktgen in the place of a scenario's background traffic: `profile` makes phases of constant
rate of a stream's messages, `script` writes them as the Lua that pktgen runs.
"""
