"""The tutorial, followed to the letter in a copy of the sources.

Left out is what rebuilds the engine: the variant is compiled by `cargo check` only, and what is
marked `# after make setup` is not run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.world import ROOT

TEXT = (ROOT / "docs/guide/tutorial.md").read_text(encoding="utf-8")
BLOCK = re.compile(
    r"(?:^`(?P<path>[\w./]+)`:\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```", re.M | re.S
)


def steps() -> Iterator[tuple[str, str]]:
    """(path, content) of each file and ("", command) of each command, in order."""
    for block in BLOCK.finditer(TEXT):
        if block["path"]:
            yield block["path"], block["text"]
        elif block["kind"] == "sh":
            for line in block["text"].splitlines():
                command = line.split("  # ")[0]
                if not command.startswith(("make ", ". ")) and "# after make setup" not in line:
                    yield "", command


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources and the built extension, without results and what was built beside it."""
    copied = tmp_path_factory.mktemp("tutorial") / "narrows"
    beside = {"target", "results", ".venv", ".git", "node_modules"}

    def ignored(_: str, names: list[str]) -> set[str]:
        return {name for name in names if name in beside or name.endswith("_cache")}

    shutil.copytree(ROOT, copied, ignore=ignored, symlinks=True)
    return copied


def test_the_tutorial_works(copy: Path) -> None:
    here = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        # The copy comes before the checkout that the environment was made for.
        "PYTHONPATH": str(copy),
        "CARGO_TARGET_DIR": str(ROOT / "target/tutorial"),
    }
    done = []
    for path, text in steps():
        if path:
            (copy / path).write_text(text, encoding="utf-8")
            continue
        ran = subprocess.run(
            ["bash", "-c", text], cwd=copy, env=os.environ | here, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, f"{text}:\n{ran.stdout}\n{ran.stderr}"
        done.append(text.split()[0:2])
    assert ["narrows", "run"] in done and ["cargo", "check"] in done
    assert (copy / "results/rate-change/report.html").is_file()
    assert (copy / "results/buffers/figures/buffer_sweep.pdf").is_file()
    assert (copy / "results/buffers/figures/resent.pdf").is_file()
    assert (copy / "analysis/figures/resent.py").is_file()
    listed = (copy / "hosts/src/cc/mod.rs").read_text()
    assert "pub mod gentle;" in listed and "    gentle::VARIANT," in listed


def test_its_figure_is_written_as_the_others_are(copy: Path, tmp_path: Path) -> None:
    files = {path: text for path, text in steps() if path.endswith(".py")}
    assert files
    for path, text in files.items():
        file = tmp_path / Path(path).name
        file.write_text(text)
        for command in (["check", "--config", str(ROOT / "pyproject.toml")], ["format", "--check"]):
            ruff = [sys.executable, "-m", "ruff", *command, str(file)]
            assert subprocess.run(ruff, cwd=ROOT, check=False).returncode == 0
