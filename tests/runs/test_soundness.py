"""Finished results: checked before use, and synced to the disk before the final rename."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from narrows.analysis.load import LoadError, load_run
from narrows.analysis.soundness import digest, problems
from narrows.testbed.cli.main import main
from narrows.testbed.files import publish
from tests.support.world import TWO_FLOWS, called, write


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scenario file beside the results of its one run."""
    at = tmp_path_factory.mktemp("finished")
    source = write(at, TWO_FLOWS.replace('duration = "5s"', 'duration = "1s"'))
    ran = called("run", source, "--out", at / "out")
    assert ran.returncode == 0, ran.stderr
    return at


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of the run directory."""
    [record] = (finished / "out/scenario").glob("*/run.json")
    shutil.copytree(finished / "out", tmp_path / "out")
    return tmp_path / "out/scenario" / record.parent.name


def flip(path: Path, bit: int) -> None:
    data = bytearray(path.read_bytes())
    data[bit // 8 % len(data)] ^= 1 << bit % 8
    path.write_bytes(data)


def test_a_run_as_it_was_written_is_sound(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(run.parent.parent)]) == 0
    assert "1 runs: 1 sound, 0 not" in capsys.readouterr().out
    record = json.loads((run / "run.json").read_text())
    assert {"run.json", "summary.json", "queue.parquet", "flows.parquet"} <= set(record["files"])


def test_every_flipped_bit_is_found(run: Path) -> None:
    whole = {path: path.read_bytes() for path in run.iterdir()}
    for number, (path, content) in enumerate(sorted(whole.items()) * 20):
        flip(path, 7919 * (number + 1) % (8 * len(content)))
        with pytest.raises(LoadError):
            load_run(run)
        path.write_bytes(content)
    assert load_run(run).valid


@pytest.mark.parametrize("damage", ["delete", "empty", "flip"])
def test_a_damaged_table_is_reported(
    run: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = run / "queue.parquet"
    match damage:
        case "delete":
            table.unlink()
        case "empty":
            table.write_bytes(b"")
        case _:
            flip(table, 12_345)
    assert main(["check", str(run)]) == 1
    assert "queue.parquet" in capsys.readouterr().out
    for verb in (["report"], ["export", "--format", "csv"]):
        assert main([verb[0], str(run.parent), *verb[1:]]) == 2
        assert "queue.parquet" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["{}", "[]", "null", '{"schema": 1, "valid": NaN}', "[" * 10**5])
def test_a_damaged_summary_gives_a_message(run: Path, text: str) -> None:
    (run / "summary.json").write_text(text)
    with pytest.raises(LoadError, match=r"summary\.json"):
        load_run(run)


def test_resume_runs_a_damaged_run_again(finished: Path, run: Path) -> None:
    (run / "flows.parquet").write_bytes(b"")
    out = run.parent.parent
    ran = called("run", finished / "scenario.toml", "--out", out, "--resume")
    assert ran.returncode == 0, ran.stderr
    assert load_run(run).valid


@pytest.mark.parametrize("text", ["{}", "null", '{"schema": 1, "valid": NaN}'])
def test_resume_does_not_trust_a_summary_with_a_new_digest(
    finished: Path, run: Path, text: str
) -> None:
    (run / "summary.json").write_text(text)
    record = json.loads((run / "run.json").read_text())
    record["files"]["summary.json"] = digest(run / "summary.json")
    (run / "run.json").write_text(json.dumps(record))
    ran = called("run", finished / "scenario.toml", "--out", run.parent.parent, "--resume")
    assert ran.returncode == 0, ran.stderr
    assert load_run(run).valid


def test_a_record_without_digests_is_damaged(run: Path) -> None:
    """One flipped bit of the key `files` would switch the check off."""
    text = (run / "run.json").read_text()
    (run / "run.json").write_text(text.replace('"files"', '"fimes"'))
    with pytest.raises(LoadError, match="no files"):
        load_run(run)


def test_resume_keeps_a_sound_run(finished: Path, run: Path) -> None:
    before = (run / "flows.parquet").stat().st_mtime_ns
    out = run.parent.parent
    ran = called("run", finished / "scenario.toml", "--out", out, "--resume")
    assert ran.returncode == 0, ran.stderr
    assert (run / "flows.parquet").stat().st_mtime_ns == before


def test_a_record_that_points_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    inside = tmp_path / "run"
    inside.mkdir()
    record = {"files": {"../secret": digest(tmp_path / "secret")}}
    assert problems(inside, record) == ["../secret: no such file; the run wrote one"]


def test_files_are_on_the_disk_before_the_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power failure loses unsynced data; the test records what was synced at each rename."""
    partial, final = tmp_path / ".one.1.partial", tmp_path / "one"
    partial.mkdir()
    for name in ("run.json", "queue.parquet"):
        (partial / name).write_text(name)
    synced, at_rename = set[str](), list[set[str]]()
    fsync, rename = os.fsync, Path.rename

    def note_sync(descriptor: int) -> None:
        synced.add(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        fsync(descriptor)

    def note_rename(path: Path, to: Path) -> Path:
        at_rename.append(set(synced))
        return rename(path, to)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(Path, "rename", note_rename)
    publish(partial, final)
    assert at_rename == [{"run.json", "queue.parquet", ".one.1.partial"}]
    assert tmp_path.name in synced
    assert (final / "run.json").read_text() == "run.json"
