"""Plays packetdrill scripts to our TCP in virtual time (docs/reference/packetdrill.md)."""
