"""Implementations of the commands besides runs: tools for packets, switches and this machine."""
