"""Where the files of this project are."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The checkout; of an installed package, the folder `narrows`, which has the same rooms."""
