"""Bundles of results that others can run again: `narrows artifact` and `narrows verify`."""
