"""Computes a topology's switch state (table entries, clone sessions, registers) and writes it.

`topology`, `routes`, `switch` and `state` are pure functions over plain data. They use the names in
the P4Info of `p4/v1model.p4`; a test compares the two. `client`, `drivers` and `events` write the
state to running switches. `python -m narrows.controller` is the command-line interface.
"""
