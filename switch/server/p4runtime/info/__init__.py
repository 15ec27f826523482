"""P4Info: a program's objects by number and name, and the encoding of their values."""
