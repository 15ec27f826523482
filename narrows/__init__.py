"""Narrows: TCP through a programmable bottleneck. The folders here are the repository's rooms."""
