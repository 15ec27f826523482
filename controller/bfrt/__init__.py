"""Controls a Tofino over BfRuntime: program tables, ports, traffic manager and mirror sessions.

`schema` reads bfrt.json, which the switch provides. `client` speaks the protocol. `switch` writes a
`SwitchState`, as `controller.client` does over P4Runtime. `controller.drivers.bfrt` sets rates,
queue limits and ports.
"""
