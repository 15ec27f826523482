"""Runs of a scenario's points in worker processes."""
