"""`narrows switch`: the software P4 target as a daemon."""
