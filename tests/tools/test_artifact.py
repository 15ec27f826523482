"""Bundles of results: what they contain, that they run again, and what is refused."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import narrows
from narrows.analysis.soundness import record_digest
from narrows.testbed.paths import ROOT
from narrows.testbed.problems import InputError
from narrows.testbed.tools.artifact import opened, verify
from narrows.testbed.tools.artifact.manifest import MANIFEST
from tests.support.world import TWO_FLOWS, write
from tests.support.world import called as command

SWEEP = '[sweep]\nflow.variant = ["reno", "cubic"]\n'
Files = dict[str, bytes]


def made(place: Path, text: str = TWO_FLOWS + SWEEP, *options: str) -> Path:
    """The bundle of a scenario's runs."""
    source = write(place, text)
    narrows.run(source, out=place, duration="1s", quiet=True)
    ran = command("artifact", place / "scenario", "--directory", place, *options)
    assert ran.returncode == 0, ran.stderr
    return Path(ran.stdout.strip())


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("artifact"))


def files_of(path: Path) -> Files:
    with zipfile.ZipFile(path) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def changed(bundle: Path, out: Path, change: Callable[[Files], None], *, sign: bool) -> Path:
    """The bundle with other content; `sign` makes its manifest agree."""
    files = files_of(bundle)
    change(files)
    if sign:
        name = f"scenario/{MANIFEST}"
        about = json.loads(files[name])
        about["files"] = {
            path.removeprefix("scenario/"): hashlib.sha256(content).hexdigest()
            for path, content in files.items()
            if path != name
        }
        files[name] = json.dumps(about).encode()
    with zipfile.ZipFile(out, "w") as packed:
        for path, content in files.items():
            packed.writestr(path, content)
    return out


def edit(path: str, key: str, value: Any) -> Callable[[Files], None]:
    """Sets a key of a JSON file of each run that has it."""

    def change(files: Files) -> None:
        for name in [name for name in files if name.endswith(path)]:
            content = json.loads(files[name])
            *parents, last = key.split(".")
            table = content
            for part in parents:
                table = table[int(part) if part.isdigit() else part]
            table[last] = value
            if path.endswith("run.json"):
                content["files"]["run.json"] = record_digest(content)
            files[name] = json.dumps(content).encode()

    return change


def test_a_bundle_has_what_a_reader_needs(bundle: Path) -> None:
    files = files_of(bundle)
    about = json.loads(files[f"scenario/{MANIFEST}"])
    assert set(files) == {f"scenario/{name}" for name in [*about["files"], MANIFEST]}
    assert len(about["runs"]) == 2 and about["environment"]["packages"]["polars"]
    shipped = (ROOT / "p4/build/v1model.json").read_bytes()
    assert files["scenario/program.json"] == shipped
    instructions = files["scenario/REPRODUCE.md"].decode()
    assert "narrows verify scenario.narrows.zip\n" in instructions
    assert all(f"- `{run}`" in instructions for run in about["runs"])
    for run in about["runs"]:
        record = json.loads(files[f"scenario/runs/{run}/run.json"])
        assert record["seed"] == 1 and record["scenario"]["duration"] == "1s"
        assert set(record["files"]) > {"queue.parquet", "flows.parquet", "summary.json"}


def test_the_same_results_give_the_same_bundle(bundle: Path, tmp_path: Path) -> None:
    results = bundle.parent / "scenario"
    again = tmp_path / bundle.name
    assert command("artifact", results, "--out", again).returncode == 0
    assert again.read_bytes() == bundle.read_bytes()


def test_a_bundle_runs_again_to_the_same_bytes(bundle: Path, tmp_path: Path) -> None:
    """In an empty directory, where it leaves nothing."""
    ran = command("verify", bundle, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[-1] == "2 runs: 2 as in the bundle"
    assert lines[0] == "variant=reno,duration=1s,seed=1: as in the bundle: same bytes in 5 files"
    assert not list(tmp_path.iterdir())


def test_tables_are_bundled_on_request(tmp_path: Path) -> None:
    bundle = made(tmp_path, TWO_FLOWS, "--tables")
    assert sum(name.endswith(".parquet") for name in files_of(bundle)) == 4
    assert command("verify", bundle, "--quiet").stdout == ""


def test_an_own_program_and_a_trace_travel_with_it(tmp_path: Path) -> None:
    shutil.copy(ROOT / "p4/build/v1model.json", tmp_path / "mine.json")
    (tmp_path / "trace.csv").write_text("seconds,bytes\n0,100\n0.5,2000\n")
    text = TWO_FLOWS.replace("[bottleneck]", 'program = "mine.json"\n[bottleneck]', 1)
    text += 'app = { kind = "trace", file = "trace.csv" }\n'
    bundle = made(tmp_path, text)
    assert files_of(bundle)["scenario/files/trace.csv"] == (tmp_path / "trace.csv").read_bytes()
    for name in ("mine.json", "trace.csv", "scenario.toml"):
        (tmp_path / name).unlink()
    ran = command("verify", bundle)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_program_that_has_changed_is_not_bundled(tmp_path: Path) -> None:
    program = tmp_path / "mine.json"
    shutil.copy(ROOT / "p4/build/v1model.json", program)
    text = TWO_FLOWS.replace("[bottleneck]", 'program = "mine.json"\n[bottleneck]', 1)
    narrows.run(write(tmp_path, text), out=tmp_path, duration="1s", quiet=True)
    program.write_text(program.read_text() + "\n")
    ran = command("artifact", tmp_path / "scenario", "--directory", tmp_path)
    assert ran.returncode == 2 and "is not the program of these runs" in ran.stderr


def test_other_results_are_found(bundle: Path, tmp_path: Path) -> None:
    change = edit("run.json", "scenario.bottleneck.queue", "30packets")
    ran = command("verify", changed(bundle, tmp_path / "b.zip", change, sign=True))
    assert ran.returncode == 1, ran.stderr
    assert ran.stdout.count("DIFFERS: other bytes: ") == 2
    assert "queue.parquet" in ran.stdout


def test_statistics_are_compared_within_a_tolerance(bundle: Path) -> None:
    reno, cubic = narrows.load(bundle.parent / "scenario").runs
    assert verify.statistics("a", reno, reno, 0.0).same
    verdict = verify.statistics("a", reno, cubic, 0.0)
    assert not verdict.same and "(differs)" in verdict.text
    assert "goodput" in verdict.text and "queueing delay, mean" in verdict.text


def test_a_bundle_does_not_choose_its_target(bundle: Path, tmp_path: Path) -> None:
    path = changed(bundle, tmp_path / "b.zip", edit(MANIFEST, "target", "dpdk"), sign=True)
    ran = command("verify", path)
    assert ran.returncode == 2
    assert "target: is 'dpdk', not 'sim'; expected --target dpdk" in ran.stderr


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd", "../up", "scenario/../up", "scenario/./x", "scenario//x", "scenario/.hidden",
        "other/x", "alone", "scenario/a\\b", "scenario/" + "d/" * 10 + "x", "scenario/" + "x" * 300,
    ],
)  # fmt: skip
def test_a_path_out_of_the_folder_is_refused(bundle: Path, tmp_path: Path, name: str) -> None:
    def add(files: Files) -> None:
        files[name] = b""

    path = changed(bundle, tmp_path / "b.zip", add, sign=False)
    with pytest.raises(InputError, match="is not a plain path in the bundle's folder"):
        opened.extract(path, tmp_path / "into")
    assert not (tmp_path / "into").exists()


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFSOCK])
def test_only_regular_files_are_taken(tmp_path: Path, kind: int) -> None:
    about = zipfile.ZipInfo("scenario/link")
    about.external_attr = (kind | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as packed:
        packed.writestr(about, "/etc/passwd")
    with pytest.raises(InputError, match="is not a regular file"):
        opened.extract(tmp_path / "b.zip", tmp_path / "into")


def test_a_device_without_end_is_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a bundle"):
        opened.extract(Path("/dev/zero"), tmp_path / "into")


@pytest.mark.parametrize(("limit", "value"), [("BUNDLE_BYTES", 300_000), ("BUNDLE_FILES", 3)])
def test_a_bundle_beyond_its_budget_is_refused(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    """By what the archive says, before anything is written; small in the file, large outside."""

    def add(files: Files) -> None:
        files["scenario/zeros"] = bytes(400_000)

    path = changed(bundle, tmp_path / "b.zip", add, sign=True)
    monkeypatch.setattr(f"narrows.testbed.tools.artifact.opened.budgets.{limit}", value)
    with pytest.raises(InputError, match="is larger than a bundle may be"):
        opened.extract(path, tmp_path / "into")
    assert not (tmp_path / "into").exists()


def test_a_file_larger_than_it_says_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("scenario/zeros", bytes(1_000_000))
    content = path.read_bytes().replace((1_000_000).to_bytes(4, "little"), bytes([10, 0, 0, 0]))
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not a readable bundle"):
        opened.extract(path, tmp_path / "into")
    assert (tmp_path / "into/zeros").stat().st_size <= 10


@pytest.mark.parametrize("cut", [0, 10, 0.5, 0.99])
def test_a_damaged_file_is_no_bundle(bundle: Path, tmp_path: Path, cut: float) -> None:
    content = bundle.read_bytes()
    (tmp_path / "b.zip").write_bytes(content[: int(cut if cut >= 1 else cut * len(content))])
    with pytest.raises(InputError, match="is not a readable bundle"):
        opened.extract(tmp_path / "b.zip", tmp_path / "into")


def put(name: str, content: bytes) -> Callable[[Files], None]:
    def change(files: Files) -> None:
        files[name] = content

    return change


def drop(name: str) -> Callable[[Files], None]:
    def change(files: Files) -> None:
        del files[next(each for each in files if each.endswith(name))]

    return change


RUN = "variant=reno,duration=1s,seed=1/run.json"
SUMMARY = "variant=reno,duration=1s,seed=1/summary.json"


@pytest.mark.parametrize(
    ("change", "sign", "message"),
    [
        (put("scenario/program.json", b"{}"), False, "program.json: its SHA-256 is not that"),
        (put("scenario/more", b"x"), False, "more: is not both in the bundle and in its manifest"),
        (drop("REPRODUCE.md"), False, "REPRODUCE.md: is not both in the bundle"),
        (put(f"scenario/{MANIFEST}", b"[]"), False, "is a list, expected an object"),
        (put(f"scenario/{MANIFEST}", b"[" * 100_000), False, "is not readable as JSON"),
        (put(f"scenario/{MANIFEST}", b'{"schema": 2}'), False, "schema is 2, expected 1"),
        (edit(MANIFEST, "runs", ["../../up"]), True, "runs: expected names of runs"),
        (edit(MANIFEST, "runs", ["none"]), True, "runs/none/run.json: is not readable as JSON"),
        (edit(RUN, "seed", "one"), True, "seed is 'one', expected"),
        (edit(RUN, "scenario.duration", "1 age"), True, 'run.json: duration = "1 age": '),
        (edit(RUN, "scenario.flow.0.app", {"kind": "trace", "file": "/etc/hostname"}), True,
         "app.file: '/etc/hostname' is outside the bundle"),
        (edit(SUMMARY, "flows", "none"), True, "summary.json: flows is 'none'"),
    ],
)  # fmt: skip
def test_a_wrong_bundle_is_refused_before_it_runs(
    bundle: Path, tmp_path: Path, change: Callable[[Files], None], sign: bool, message: str
) -> None:
    path = changed(bundle, tmp_path / "b.zip", change, sign=sign)
    ran = command("verify", path, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert message in ran.stderr
