"""Imports between modules, Python and Rust, from their sources."""
