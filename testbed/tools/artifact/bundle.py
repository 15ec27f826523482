"""`narrows artifact`: makes a bundle of results."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import zipfile
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any

from narrows.analysis.load import Run, load
from narrows.testbed import engine, paths
from narrows.testbed.files import replace
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.tools.artifact.manifest import (
    FILES,
    MANIFEST,
    P4INFO,
    PROGRAM,
    REPRODUCE,
    RUNS,
    SCHEMA,
    Environment,
    Manifest,
    instructions,
)

SUFFIX = ".narrows.zip"
EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The date of every file: a bundle does not depend on when it was made."""


def make(results: Path, out: Path | None, directory: Path, *, tables: bool) -> Path:
    """Writes the bundle of a scenario's results; returns its path, `<results>.narrows.zip` unless
    given. Files that the scenario names are in `directory`. The content depends only on results and
    machine.

    Raises `LoadError` for damaged results, `InputError` for what cannot be bundled, and `OSError`.
    """
    runs = load(results)
    name = str(runs[0].record["name"])
    path = out or results.with_name(f"{results.resolve().name}{SUFFIX}")
    files = dict(contents(runs, directory, tables=tables))
    about = describe(runs, name, files)
    files[REPRODUCE] = instructions(about, path.name).encode()
    about["files"] = {each: hashlib.sha256(files[each]).hexdigest() for each in sorted(files)}
    files[MANIFEST] = (json.dumps(about, indent=1, ensure_ascii=False) + "\n").encode()
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.write_bytes(archive(name, files))
        replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def contents(runs: Sequence[Run], directory: Path, *, tables: bool) -> Iterator[tuple[str, bytes]]:
    """The files of a bundle but for manifest and instructions, by their paths in it. Raises
    `InputError`.
    """
    kinds = {(run.record["target"], run.record["hosts"], json.dumps(run.record["versions"]))
             for run in runs}  # fmt: skip
    if len(kinds) > 1:
        what = "its runs have several targets, hosts or versions; expected one: run all again"
        raise InputError("artifact", [Problem(str(runs[0].path.parent), what)])
    for run in runs:
        if "files" not in run.record:
            what = "has no checksums; an earlier version wrote it: run it again"
            raise InputError("artifact", [Problem(str(run.path), what)])
        names = [name for name in run.record["files"] if tables or name.endswith(".json")]
        for name in names:
            yield f"{RUNS}/{run.name}/{name}", (run.path / name).read_bytes()
    yield from program(runs, directory)
    for file in sorted({file for run in runs for file in traces(run.scenario)}):
        yield f"{FILES}/{file}", named(directory, file, "app.file")


def program(runs: Sequence[Run], directory: Path) -> Iterator[tuple[str, bytes]]:
    """The P4 program and its P4Info. Raises `InputError` where the file is not that of the runs."""
    named_by = {run.scenario.get("program") for run in runs}
    digests = {run.record["program"]["sha256"] for run in runs}
    if len(digests) > 1:
        what = f"the runs have {len(digests)} P4 programs; expected one: bundle them apart"
        raise InputError("artifact", [Problem("program", what)])
    given = next(iter(named_by))
    path = paths.PROGRAM if given is None else directory / given
    try:
        content = path.read_bytes()
    except OSError as error:
        what = f"cannot be read ({error.strerror}); --directory says where the scenario's files are"
        raise InputError("artifact", [Problem("program", what, str(path))]) from None
    if hashlib.sha256(content).hexdigest() not in digests:
        what = "is not the program of these runs: it was changed; run them again"
        raise InputError("artifact", [Problem("program", what, str(path))])
    yield PROGRAM, content
    info = path.with_suffix(".p4info.txtpb")
    if info.is_file():
        yield P4INFO, info.read_bytes()


def traces(scenario: Any) -> Iterator[str]:
    """The files that the applications of a resolved scenario name."""
    for flow in scenario.get("flow", []):
        app = flow.get("app")
        if isinstance(app, dict) and isinstance(app.get("file"), str):
            yield app["file"]


def named(directory: Path, file: str, key: str) -> bytes:
    """The content of a file that a scenario names. Raises `InputError`."""
    if PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts:
        what = "is outside the scenario's directory; expected a file below it"
        raise InputError("artifact", [Problem(key, what, file)])
    try:
        return (directory / file).read_bytes()
    except OSError as error:
        what = f"cannot be read ({error.strerror}); --directory says where the scenario's files are"
        raise InputError("artifact", [Problem(key, what, file)]) from None


def describe(runs: Sequence[Run], name: str, files: dict[str, bytes]) -> Manifest:
    """The manifest, without checksums."""
    first = runs[0]
    return {
        "schema": SCHEMA,
        "name": name,
        "title": first.title,
        "target": first.record["target"],
        "hosts": first.record["hosts"],
        "versions": first.record["versions"],
        "runs": [run.name for run in runs],
        "files": {},
        "environment": environment(),
    }


def environment() -> Environment:
    """This machine, and the versions of what narrows depends on."""
    packages = {}
    for line in metadata.requires("narrows") or []:
        if "extra ==" in line:
            continue
        name = line.split(";")[0].split("[")[0]
        name = name[: next((at for at, sign in enumerate(name) if sign in "<>=!~ "), len(name))]
        packages[name] = metadata.version(name)
    return {
        "narrows": engine.version(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "packages": packages,
    }


def archive(name: str, files: dict[str, bytes]) -> bytes:
    """A zip file with a folder of these files, without dates."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(files):
            about = zipfile.ZipInfo(f"{name}/{path}", EARLIEST)
            about.compress_type = zipfile.ZIP_DEFLATED
            about.external_attr = 0o644 << 16
            packed.writestr(about, files[path])
    return content.getvalue()
