"""Scripts in packetdrill's dialect, played to our TCP in virtual time (docs/packetdrill.md)."""
