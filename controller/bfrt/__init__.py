"""A Tofino over BfRuntime: the tables of a program and those of ports, traffic manager and mirror.

`schema` reads bfrt.json, which the switch itself hands out; `client` speaks the protocol;
`switch` puts a `SwitchState` on it as `controller.client` does over P4Runtime, and
`controller.drivers.bfrt` sets rates, queue limits and ports.
"""
