"""Every command in the documents works: cheap ones are run, the others are checked."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from narrows.testbed import engine
from narrows.testbed.cli import list as listing
from narrows.testbed.cli import main as cli
from narrows.testbed.cli import run
from narrows.testbed.reference.commands import subcommands
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.plan import make_plan
from tests.docs.guide import FOLDER, PAGES
from tests.support.world import ROOT, narrows

CHEAP_VERBS = {"help", "doctor", "p4-check"}


def commands() -> Iterator[tuple[str, str]]:
    """(document, command) for every line of an ```sh block that begins with make or narrows."""
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md")]:
        if path.parent == FOLDER and path.name in PAGES:
            continue  # tests/docs/test_guide.py runs the whole guide.
        for block in re.findall(r"^```sh\n(.*?)^```", path.read_text(), re.M | re.S):
            for line in block.splitlines():
                line = line.split("  #")[0].strip().removeprefix("$ ").removeprefix(".venv/bin/")
                if line.endswith("=mine"):
                    continue  # A reader's own file; tests/targets/test_linux_hosts.py writes one.
                if re.match(r"(make|narrows)\b", line):
                    yield path.relative_to(ROOT).as_posix(), line.partition(" > ")[0]


@pytest.mark.parametrize(("document", "command"), sorted(set(commands())))
def test_a_documented_command_works(document: str, command: str) -> None:
    program, *arguments = shlex.split(command)
    if program == "make":
        verbs = [word for word in arguments if "=" not in word]
        dry = [] if set(verbs) <= CHEAP_VERBS else ["-n"]
        ran = make(*dry, *arguments)
        assert ran.returncode == 0, f"{document}: {command}: {ran.stderr}"
        return
    options = cli.parser().parse_args(arguments)
    if options.command == run.run:
        settings = [sweep.parse_setting(text) for text in options.overrides]
        for point in sweep.read(ROOT / options.scenario, settings):
            make_plan(point.scenario, str(options.scenario))
    elif options.command == listing.run:
        assert cli.main(arguments) == 0


PROSE = re.compile(r"`((?:make|narrows|cargo|pytest|python -m) [^`]+)`")
"""A command in a sentence."""
FOREIGN = {"make modules_install"}
VERBS = {name: parser for name, _, parser in subcommands(cli.parser())}


def commands_in_prose() -> Iterator[tuple[str, str]]:
    """(document, command) for every command in a sentence or a table."""
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        if path.name != "CHANGELOG.md":  # It names commands that are gone.
            text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.M | re.S)
            for command in PROSE.findall(text):
                yield path.relative_to(ROOT).as_posix(), " ".join(command.split())


def exists(command: str) -> bool:
    """Whether a command's verb, options, package or files exist; capitals stand for any value."""
    program, first, *rest = command.split()
    if program == "make":
        return bool(re.search(rf"^{first}:", (ROOT / "Makefile").read_text("utf-8"), re.M))
    if program == "cargo":
        crates = [ROOT / name.removeprefix("narrows-") for name in rest if "narrows-" in name]
        return first in {"test", "bench"} and all(
            (crate / "Cargo.toml").exists() for crate in crates
        )
    if program == "pytest":
        return (ROOT / first).exists()
    if program == "python":
        return importlib.util.find_spec(rest[0]) is not None
    if first in VERBS:
        known = {flag for action in VERBS[first]._actions for flag in action.option_strings}
        return {word for word in rest if word.startswith("--")} <= known
    return first in {"VERB", "--help", "--version"}


@pytest.mark.parametrize(("document", "command"), sorted(set(commands_in_prose())))
def test_a_command_in_a_sentence_exists(document: str, command: str) -> None:
    assert command in FOREIGN or exists(command), document


@pytest.mark.parametrize("command", ["make no", "narrows no", "narrows run --no", "pytest no"])
def test_a_command_that_is_gone_is_found(command: str) -> None:
    assert not exists(command)


def scenarios() -> Iterator[tuple[str, str]]:
    """(document, text) for every ```toml block that is a whole scenario."""
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for block in re.findall(r"^```toml\n(.*?)^```", path.read_text(), re.M | re.S):
            if "title =" in block:
                yield path.relative_to(ROOT).as_posix(), block


@pytest.mark.parametrize(("document", "text"), list(scenarios()))
def test_a_documented_scenario_is_one(tmp_path: Path, document: str, text: str) -> None:
    source = tmp_path / f"{document.replace('/', '-')}.toml"
    source.write_text(text)
    for point in sweep.read(source):
        make_plan(point.scenario, str(source))


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_readme_has_the_two_commands() -> None:
    readme = {command for document, command in commands() if document == "README.md"}
    assert {"make run", "make test"} <= readme


def test_bare_make_lists_the_verbs() -> None:
    listed = make().stdout
    for verb in ("run", "test", "bench", "p4", "lint", "doctor", "clean"):
        assert re.search(rf"^  {verb} +\w", listed, re.M), verb


def test_make_lets_python_keep_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    ran = make("--eval", "variables:; @env", "variables")
    assert "PATH=" in ran.stdout and "PYTHONDONTWRITEBYTECODE" not in ran.stdout


@pytest.mark.parametrize("what", listing.LISTS)
def test_every_list_lists(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list", what]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 1


def test_doctor_says_what_is_there_and_how_to_get_the_rest() -> None:
    ran = narrows("doctor")
    assert ran.returncode == 0, ran.stdout
    lines = ran.stdout.splitlines()
    assert any(line.startswith("ok") and "Rust" in line for line in lines)
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith(("absent", "MISSING")):
            assert following.startswith("    "), f"{line}: no way to mend it is given"


def test_the_caption_of_the_readme_agrees_with_the_numbers(tmp_path: Path) -> None:
    """For each number of flows, CUBIC has the longest mean queue and Vegas the shortest."""
    path = ROOT / "scenarios/first-look.toml"
    queues: dict[int, dict[str, float]] = {}
    for point in sweep.read(path):
        out = tmp_path / point.name
        out.mkdir()
        plan = json.dumps(make_plan(point.scenario, str(path)))
        mean = engine.run(plan, str(out), None)["bottleneck"]["queue_packets_mean"]
        assert mean is not None and mean > 1, f"{point.name} has no queue"
        values = point.values
        queues.setdefault(values["flow.count"], {})[values["flow.variant"]] = mean
    assert list(queues) == [1, 2, 4]
    for of_variant in queues.values():
        assert sorted(of_variant, key=of_variant.__getitem__) == ["vegas", "reno", "cubic"]
