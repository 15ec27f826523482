"""Opens a bundle that may come from a stranger.

Only regular files below one folder are taken, at most so many and so many bytes. They are written
below a directory that is ours. Nothing else in the archive has an effect: no link, device, owner or
mode. Every file must have the checksum that the manifest says.
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
import zipfile
import zlib
from pathlib import Path
from typing import Any, cast

from narrows.schema import budgets
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.tools.artifact.manifest import MANIFEST, SCHEMA, Manifest

PART = re.compile(r"[A-Za-z0-9_+=,][A-Za-z0-9._+=,-]{0,199}")
"""A part of a path in a bundle: not hidden, and neither `.` nor `..`."""
DEEPEST = 8
CHUNK_BYTES = 1 << 20
TOO_LARGE = (
    f"is larger than a bundle may be ({budgets.BUNDLE_FILES} files,"
    f" {budgets.BUNDLE_BYTES >> 20} MiB)"
)
TYPES: dict[str, type] = {
    "name": str, "title": str, "target": str, "hosts": str, "versions": dict, "runs": list,
    "files": dict, "environment": dict,
}  # fmt: skip


def extract(bundle: Path, into: Path) -> Manifest:
    """Writes the bundle's files below `into`; returns its manifest. Raises `InputError`."""
    try:
        if bundle.exists() and not bundle.is_file():
            # A device has no end.
            raise refuse(bundle, "", "is not a file; expected a bundle")
        if bundle.stat().st_size > budgets.BUNDLE_BYTES:
            raise refuse(bundle, "", TOO_LARGE)
        with zipfile.ZipFile(bundle) as packed:
            members = _members(packed, bundle)
            files = {name: _write(packed, each, into / name) for name, each in members.items()}
    except (OSError, EOFError, ValueError, RuntimeError, NotImplementedError, zlib.error,
            zipfile.BadZipFile) as error:  # fmt: skip
        raise refuse(bundle, "", f"is not a readable bundle ({error})") from None
    manifest = _manifest(bundle, into)
    _check(bundle, manifest, files)
    return manifest


def refuse(bundle: Path, key: str, what: str) -> InputError:
    """The error for a bundle that is not taken."""
    return InputError(str(bundle), [Problem(key, what)])


def _members(packed: zipfile.ZipFile, bundle: Path) -> dict[str, zipfile.ZipInfo]:
    """The files by their paths in the bundle's folder. Raises `InputError`."""
    found: dict[str, zipfile.ZipInfo] = {}
    folder, total_bytes = "", 0
    for member in packed.infolist():
        parts = member.filename.split("/")
        if member.is_dir():
            continue
        mode = member.external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise refuse(bundle, member.filename, "is not a regular file; a bundle has only these")
        plain = all(PART.fullmatch(part) for part in parts) and 2 <= len(parts) <= DEEPEST
        folder = folder or parts[0]
        if not plain or parts[0] != folder:
            raise refuse(bundle, member.filename, "is not a plain path in the bundle's folder")
        name = "/".join(parts[1:])
        if name in found:
            raise refuse(bundle, member.filename, "is there twice")
        found[name] = member
        total_bytes += member.file_size
        if total_bytes > budgets.BUNDLE_BYTES or len(found) > budgets.BUNDLE_FILES:
            raise refuse(bundle, "", TOO_LARGE)
    return found


def _write(packed: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> str:
    """Writes a file, at most as many bytes as it says to have; returns its SHA-256."""
    path.parent.mkdir(parents=True, exist_ok=True)
    digest, left_bytes = hashlib.sha256(), member.file_size
    with packed.open(member) as content, path.open("xb") as file:
        while part := content.read(min(CHUNK_BYTES, left_bytes)):
            left_bytes -= len(part)
            digest.update(part)
            file.write(part)
    return digest.hexdigest()


def read_json(bundle: Path, path: Path, name: str) -> dict[str, Any]:
    """An object of the bundle. Raises `InputError`."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise refuse(bundle, name, f"is not readable as JSON ({error})") from None
    if not isinstance(content, dict):
        raise refuse(bundle, name, f"is a {type(content).__name__}, expected an object")
    return content


def _manifest(bundle: Path, into: Path) -> Manifest:
    content = read_json(bundle, into / MANIFEST, MANIFEST)
    if content.get("schema") != SCHEMA:
        raise refuse(bundle, MANIFEST, f"schema is {content.get('schema')!r}, expected {SCHEMA}")
    for key, kind in TYPES.items():
        if not isinstance(content.get(key), kind):
            raise refuse(bundle, f"{MANIFEST}: {key}", f"expected a {kind.__name__}")
    runs = content["runs"]
    if not runs or not all(isinstance(run, str) and PART.fullmatch(run) for run in runs):
        raise refuse(bundle, f"{MANIFEST}: runs", "expected names of runs")
    return cast("Manifest", content)


def _check(bundle: Path, manifest: Manifest, files: dict[str, str]) -> None:
    """Raises `InputError` unless the files are those of the manifest."""
    expected = manifest["files"]
    if found := sorted({*files} ^ {*expected, MANIFEST}):
        raise refuse(bundle, found[0], "is not both in the bundle and in its manifest")
    for name, digest in expected.items():
        if files[name] != digest:
            raise refuse(bundle, name, f"its SHA-256 is not that of {MANIFEST}: it was changed")
