"""Traces that a scenario names: packets to replay, and rates that a link follows."""
