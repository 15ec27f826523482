"""Checks that a run directory is unchanged, by the SHA-256 of each file in `run.json`.

`files` of `run.json` maps the name of every other file to its digest. Its entry `run.json` is the
digest of the record itself without `files`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RECORD = "run.json"
CHUNK_BYTES = 1 << 20
OLDER = "0.1."
"""Versions whose records have no digests."""


def digests(directory: Path, record: Mapping[str, Any]) -> dict[str, str]:
    """The digests of a run directory's files, and of its record, in hexadecimal."""
    files = (path for path in directory.iterdir() if path.is_file())
    names = sorted(path.name for path in files if path.name != RECORD)
    return {RECORD: record_digest(record)} | {name: digest(directory / name) for name in names}


def digest(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal. Raises `OSError`."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(CHUNK_BYTES):
            found.update(part)
    return found.hexdigest()


def record_digest(record: Mapping[str, Any]) -> str:
    """The digest of a record without `files`, independent of the order of its keys."""
    own = {key: value for key, value in record.items() if key != "files"}
    return hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()


def is_older(record: Mapping[str, Any]) -> bool:
    """Whether a version that wrote no digests wrote the run."""
    versions = record.get("versions")
    version = str(versions.get("narrows")) if isinstance(versions, dict) else ""
    return version.startswith(OLDER)


def problems(
    directory: Path, record: Mapping[str, Any], *, only_present: bool = False
) -> list[str]:
    """The faults of a run directory's files; with `only_present`, a file may be missing.

    Empty if they are as written, or if a version without digests wrote them.
    """
    files = record.get("files")
    if files is None:
        return [] if is_older(record) else [f"{RECORD}: no files; it was changed or damaged"]
    if not isinstance(files, dict):
        return [f"{RECORD}: files is a {type(files).__name__}, expected an object"]
    found = []
    for name, expected in files.items():
        if name == RECORD:
            is_same = record_digest(record) == expected
        else:
            path = directory / name
            if only_present and Path(name).name == name and not path.exists():
                continue
            if Path(name).name != name or not path.is_file():
                found.append(f"{name}: no such file; the run wrote one")
                continue
            try:
                is_same = digest(path) == expected
            except OSError as error:
                found.append(f"{name}: cannot be read ({error.strerror})")
                continue
        if not is_same:
            found.append(f"{name}: its SHA-256 is not that of {RECORD}: it was changed or damaged")
    return found
