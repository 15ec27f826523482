"""The notebooks of docs/notebooks run, and are committed without outputs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import ROOT, environment

NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
EXECUTE = "from nbclient.cli import main; main()"


def cells(path: Path) -> list[dict[str, Any]]:
    """A notebook's cells of code."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return [cell for cell in content["cells"] if cell["cell_type"] == "code"]


def shown(cell: dict[str, Any]) -> str:
    """The HTML and text of a cell's outputs."""
    texts = [output.get("text", []) for output in cell["outputs"]]
    data = [output.get("data", {}) for output in cell["outputs"]]
    texts += [part for one in data for part in one.values()]
    return "\n".join("".join(text) for text in texts)


def test_there_are_two_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["buffer-sizing", "variant-against-cubic"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_without_outputs(path: Path) -> None:
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells(path))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    """Its own assertions hold; it shows progress, a table of points and a figure."""
    shutil.copy(path, tmp_path)
    ran = subprocess.run(
        [sys.executable, "-c", EXECUTE, path.name, "--inplace"],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    outputs = "\n".join(map(shown, cells(tmp_path / path.name)))
    assert "<progress value=" in outputs
    assert "<th" in outputs and "results/" in outputs
    assert "data:image/svg+xml;base64," in outputs
