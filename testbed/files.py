"""Reads and writes files and directories: errors name the path, and writes are atomic."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.schema import budgets
from narrows.testbed.problems import InputError, Problem

if TYPE_CHECKING:
    from narrows.schema.summary import Summary

PLAIN_DIRECTORY = re.compile(r"[A-Za-z0-9/._-]{1,60}")
"""Directories short enough for a Unix socket's path of 107 bytes (linux/un.h), without characters
that are special in a URI (gRPC) or a path list (LD_PRELOAD).
"""


def plain_directory() -> tempfile.TemporaryDirectory[str]:
    """A temporary directory with a short name: in `/tmp` if TMPDIR is too long or has special
    characters.
    """
    is_plain = PLAIN_DIRECTORY.fullmatch(tempfile.gettempdir())
    return tempfile.TemporaryDirectory(prefix="narrows-", dir=None if is_plain else "/tmp")


def read_text(path: Path, most_bytes: int = budgets.TEXT_FILE_BYTES) -> str:
    """A file's text, in UTF-8; at most so many bytes, of a regular file or a pipe. Raises
    `InputError`.
    """
    try:
        with path.open("rb") as file:
            content = file.read(most_bytes + 1)
        if len(content) > most_bytes:
            what = f"has more than {most_bytes // 10**6} MB; expected a text file"
        else:
            text = content.decode("utf-8")
            return text.replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        what = "no such file"
    except OSError as error:
        what = f"cannot be read ({error.strerror})"
    except UnicodeDecodeError as error:
        what = f"is not UTF-8 text ({error.reason} at byte {error.start})"
    raise InputError(str(path), [Problem("", what)])


def make_directory(path: Path) -> None:
    """Makes a directory for results, and those above it. Raises `InputError` where it can't, or
    where nothing can be written to it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"cannot create this directory ({error.strerror}); expected a writable place"
        raise InputError("--out", [Problem(str(path), what)]) from None
    try:
        tempfile.TemporaryFile(dir=path).close()
    except OSError as error:
        what = f"nothing can be written there ({error.strerror}); expected a place for results"
        raise InputError("--out", [Problem(str(path), what)]) from None


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Writes a JSON file with keys in the given order."""
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def replace_json(path: Path, content: Mapping[str, object]) -> None:
    """Like `write_json`; a power cut leaves the file as before or as after."""
    partial = path.with_name(f".{path.name}.partial")
    write_json(partial, content)
    replace(partial, path)


def replace(partial: Path, path: Path) -> None:
    """Moves a complete file to its place and has the disk keep it there."""
    sync(partial)
    partial.rename(path)
    sync(path.parent)


def write_summary(out: Path, summary: Summary) -> None:
    """Writes a run's `summary.json`, as the engine does."""
    text = json.dumps(summary, indent=2, ensure_ascii=False)
    (out / "summary.json").write_text(text + "\n", encoding="utf-8")


def publish(partial: Path, final: Path) -> None:
    """Moves a complete run to its place, then removes the earlier one. A power cut does not take
    away what is in its place: it is on the disk.
    """
    sync_directory(partial)
    retired = partial.with_suffix(".retired")
    if final.exists():
        final.rename(retired)
    partial.rename(final)
    sync(final.parent)
    shutil.rmtree(retired, ignore_errors=True)


def sync_directory(directory: Path) -> None:
    """Has the disk keep a directory and the files in it."""
    for path in directory.iterdir():
        sync(path)
    sync(directory)


def sync(path: Path) -> None:
    """Has the disk keep what was written to a file, or which names a directory has."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
