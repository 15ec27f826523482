"""Packets into any switch that runs the bottleneck program, and the expected output (as in PTF).

Each test runs on every available target: the engine in this process, `narrows switch` on veths,
bmv2 on veths, and a switch that these variables name:

    NARROWS_SWITCH=HOST:PORT          its P4Runtime server; the suite pushes program and entries
    NARROWS_SWITCH_PORTS=1@eth1,...   this machine's interfaces at its ports 1, 2 and 3
    NARROWS_SWITCH_THRIFT=HOST:PORT   bmv2's Thrift server, where rates are not set by gNMI

pytest tests/packets -k hardware
"""
