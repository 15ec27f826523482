"""Paths of the project's files."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The checkout, or the folder `narrows` of an installed package, which has the same rooms."""

PROGRAM = ROOT / "p4/build/v1model.json"
"""The program of a scenario that names no other."""
