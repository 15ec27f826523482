"""The `tofino` target: a hardware switch between hosts on cards."""
