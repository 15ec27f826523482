"""`narrows lab`: a network of P4 switches and hosts, from the P4 tutorials' files."""
