"""The scenarios that come with Narrows, by name from any directory. Imports little: `narrows run`
starts its first worker before the rest loads.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from narrows.testbed.paths import ROOT

FOLDER = ROOT / "scenarios"


def names() -> list[str]:
    """The names, such as `new-aimd` and `tcpeval/access-link`: paths in the folder, without
    `.toml`.
    """
    return sorted(
        path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.toml")
    )


def unknown_scenario(given: str) -> str:
    """What is wrong with a name that is neither a file nor a scenario's, with the nearest name."""
    near = difflib.get_close_matches(given, names(), 1, 0.6)
    what = f'did you mean "{near[0]}"?' if near else "narrows list scenarios has the names"
    return f"no such file, and no scenario has this name; {what}"


def scenario_path(given: str | Path) -> Path:
    """The file of a scenario that is given by its path or by its name; the path as given where
    neither exists. A file comes before a name.
    """
    path = Path(given)
    shipped = FOLDER / f"{given}.toml"
    if path.is_file() or path.is_absolute() or ".." in path.parts or not shipped.is_file():
        return path
    # Messages name the file as a reader of this directory would.
    return Path(os.path.relpath(shipped)) if shipped.is_relative_to(Path.cwd()) else shipped
