"""P4Runtime entities: one file per kind, with reads and writes."""
