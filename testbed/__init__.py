"""Wiring only: a scenario becomes nodes, links and a controller's state, and a run directory."""
