"""The verbs besides runs: tools for packets, switches and this machine."""
