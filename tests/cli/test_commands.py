"""The command's own options: version, JSON, quiet, dry runs, completion, manual pages, lists."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from narrows.testbed import catalogue, engine
from narrows.testbed.cli import completion, man
from narrows.testbed.cli.main import VERBS, parser
from narrows.testbed.targets import TARGETS
from tests.support.world import ROOT, TWO_FLOWS, command, environment, narrows, write

SWEEP = '[sweep]\nflow.variant = ["reno", "cubic"]\nrepeat = 2\n'


def test_the_version_is_the_engines() -> None:
    ran = narrows("--version")
    assert (ran.returncode, ran.stdout) == (0, f"narrows {engine.version()}\n")


def test_a_dry_run_says_what_would_run_and_runs_nothing(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS + SWEEP)
    ran = narrows("run", source, "--out", tmp_path / "out", "--dry-run")
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[1] == "4 runs of 2 points, 2 flows each, about 20 s of simulated time"
    assert "base RTT 14ms" in ran.stdout
    assert not (tmp_path / "out").exists()


def test_json_has_every_point_and_nothing_else(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS + SWEEP)
    ran = narrows("run", source, "--out", tmp_path, "--json", "--set", "duration=1s")
    assert ran.returncode == 0, ran.stderr
    content = json.loads(ran.stdout)
    assert [point["point"]["flow.variant"] for point in content["points"]] == ["reno", "cubic"]
    assert all(len(point["runs"]) == 2 for point in content["points"])
    assert content["results"] == str(tmp_path / "scenario")


def test_quiet_prints_nothing(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS)
    ran = narrows("run", source, "--out", tmp_path, "--quiet", "--set", "duration=1s")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def completed(*words: str) -> set[str]:
    """Bash's completions after these words."""
    script = completion.bash(parser())
    line = f"COMP_WORDS=({' '.join(words)} '')\nCOMP_CWORD={len(words)}\n_narrows\n"
    said = 'printf "%s\\n" "${COMPREPLY[@]}"'
    ran = subprocess.run(
        ["bash", "-c", f"{script}\n{line}{said}"], capture_output=True, text=True, check=True
    )
    return set(ran.stdout.split())


def test_bash_completes_verbs_options_and_values() -> None:
    assert completed("narrows") == {*VERBS, "--help", "--version"}
    assert {"--dry-run", "--resume"} <= completed("narrows", "run")
    assert completed("narrows", "run", "--target") == {*TARGETS}
    assert "variants" in completed("narrows", "list")


@pytest.mark.parametrize(("shell", "check"), [("bash", "-n"), ("zsh", "-n"), ("fish", "-n")])
def test_a_shell_can_read_its_completion(tmp_path: Path, shell: str, check: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "completion"
    script.write_text(narrows("completion", shell).stdout)
    subprocess.run([shell, check, str(script)], check=True)


@pytest.mark.parametrize("shell", [completion.zsh, completion.fish])
def test_every_verb_is_in_the_other_shells_too(shell: object) -> None:
    assert callable(shell)
    text = shell(parser())
    assert all(verb in text for verb in VERBS)
    assert "dry-run" in text


def test_every_verb_has_a_manual_page() -> None:
    pages = man.pages(parser())
    assert set(pages) == {"narrows", *(f"narrows-{verb}" for verb in VERBS)}
    assert "\\-\\-dry\\-run" in pages["narrows-run"]
    assert all(".SH EXIT STATUS" in text for text in pages.values())


def test_a_manual_page_begins_no_line_with_foreign_macros() -> None:
    macros = {".TH", ".SH", ".TP", ".B"}
    for text in man.pages(parser()).values():
        found = {line.split(" ")[0] for line in text.splitlines() if line.startswith((".", "'"))}
        assert found <= macros


def test_variants_have_one_line_each_and_a_page() -> None:
    records = [*catalogue.records("variants"), *catalogue.records("senders")]
    lines = narrows("list", "variants").stdout.splitlines()
    assert len(lines) == len(records) + 1
    page = narrows("list", "variants", "cubic").stdout
    assert page.startswith("cubic: ") and "reference   " in page and "hystart" in page


def test_an_unknown_variant_has_no_page() -> None:
    ran = narrows("list", "variants", "cubbic")
    assert ran.returncode == 2
    assert 'did you mean "cubic"' in ran.stderr


def test_without_the_engine_the_command_says_how_to_build_it() -> None:
    """`--version`, `--help` and `doctor` do not need it."""
    script = (
        "import sys\n"
        "sys.modules['narrows._engine'] = None\n"
        "from narrows.testbed.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )

    def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", script, *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert ran("--version").stdout.endswith("(the engine is not built)\n")
    assert ran("run", "--help").returncode == 0
    listed = ran("list", "variants")
    assert listed.returncode == 1
    assert "`make setup` builds it" in listed.stderr


@pytest.mark.parametrize("kib", [200_000, 500_000, 1_000_000])
def test_too_small_an_address_space_is_refused_by_name(kib: int, tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS)
    limited = f'ulimit -v {kib} && exec "$@"'
    ran = subprocess.run(
        ["bash", "-c", limited, "bash", *command("run", source, "--out", tmp_path / "out")],
        env=environment(), capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert ran.returncode == 2 and not (tmp_path / "out").exists()
    assert re.fullmatch(r"narrows: ulimit -v: allows \d\.\d GB .*; expected 2 GB.*\n", ran.stderr)
