"""From a topology to what its switches must hold: table entries, clone sessions, registers.

`topology`, `routes`, `switch` and `state` are pure functions over plain data. The names are those
of the P4 program (`p4/v1model.p4`), as its P4Info has them; a test compares the two. `client`,
`drivers` and `events` carry them to running switches; `python -m narrows.controller` is their
command.
"""
