"""P4Info: a program's objects by number and name, and how their values are written."""
