"""Checks that two checkouts give the same results: `python -m bench.compare OLD NEW`."""
