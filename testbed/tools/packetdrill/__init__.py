"""Plays packetdrill scripts to our TCP in virtual time (docs/guide/packetdrill.md)."""
