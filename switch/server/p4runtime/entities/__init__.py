"""P4Runtime entities: read and written, one kind per file."""
