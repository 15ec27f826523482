"""Paths of the project's files."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The checkout, or the folder `narrows` of an installed package, which has the same rooms."""
