"""What a bundle contains, and its sentences for a reader.

A bundle is a zip file with one folder of regular files:

- `manifest.json`: this module's `Manifest`
- `REPRODUCE.md`: what to install, what to run, what to expect
- `runs/<run>/run.json`, `summary.json`, and with `--tables` the run's tables
- `program.json`, `program.p4info.txtpb`: the P4 program
- `files/`: the traces that the scenario names, by its paths
"""

from __future__ import annotations

from typing import Final, TypedDict

from narrows.testbed.targets import TARGETS

SCHEMA: Final = 1
MANIFEST, REPRODUCE, PROGRAM, RUNS, FILES = (
    "manifest.json", "REPRODUCE.md", "program.json", "runs", "files",
)  # fmt: skip
P4INFO = "program.p4info.txtpb"


class Environment(TypedDict):
    """Where the bundle was made."""

    narrows: str
    python: str
    platform: str
    machine: str
    packages: dict[str, str]
    """The versions of the packages that narrows depends on."""


class Manifest(TypedDict):
    """`manifest.json`."""

    schema: int
    name: str
    """The scenario's name."""
    title: str
    target: str
    hosts: str
    versions: dict[str, str]
    """What the runs were made with, as in `run.json`."""
    runs: list[str]
    """Names of the runs, in the scenario's order."""
    files: dict[str, str]
    """SHA-256 of each file of the bundle but this one, by its path in the bundle's folder."""
    environment: Environment


def instructions(manifest: Manifest, archive: str) -> str:
    """The text of `REPRODUCE.md`."""
    version = manifest["versions"]["narrows"]
    count = len(manifest["runs"])
    target = TARGETS[manifest["target"]]
    option = f" --target {target.name}" if target.in_real_time else ""
    expected = (
        "In virtual time the same inputs and version give the same bytes, on every machine. Each\n"
        "run's tables and summary must have the SHA-256 that its `run.json` says."
        if not target.in_real_time
        else "These runs were made in real time, so their bytes differ from run to run. The\n"
        "statistics of the bottleneck and of the flows must agree within a tolerance."
    )
    listed = "\n".join(f"- `{name}`" for name in manifest["runs"])
    return f"""# Reproduce: {manifest["title"]}

{count} run{"" if count == 1 else "s"} of the scenario `{manifest["name"]}`, by Narrows {version}
on target `{manifest["target"]}` with hosts `{manifest["hosts"]}`.

```sh
pip install narrows=={version}
narrows verify {archive}{option}
```

{expected}

`runs/<run>/run.json` has each run's scenario with every default, seed, versions and checksums.
`manifest.json` has the checksum of every file here, and the machine that made the bundle.

## Runs

{listed}
"""
