"""Executes the runs of a scenario's points in worker processes."""
