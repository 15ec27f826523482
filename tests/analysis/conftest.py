"""Fixtures for the tests of the analysis."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from narrows.analysis.chart import paper
from narrows.analysis.chart.model import Chart


@pytest.fixture
def first_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws only the first chart in each format: test_analysis_figures.py draws each figure."""
    files, drawn = paper.files, dict[str, bytes]()

    def first(chart: Chart, formats: Sequence[str]) -> dict[str, bytes]:
        missing = [kind for kind in formats if kind not in drawn]
        drawn.update(files(chart, missing) if missing else {})
        return {kind: drawn[kind] for kind in formats}

    monkeypatch.setattr(paper, "files", first)
