"""Machine code and interpreter write the same run, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

from narrows.testbed import engine
from narrows.testbed.scenario import plan, sweep
from tests.support.world import TWO_FLOWS, write


def test_both_engines_write_the_same_run(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS)
    settings = [("telemetry.every", 3), ("bottleneck.loss", 0.01)]
    point = sweep.read(source, settings)[0]
    written = []
    for chosen in ("native", "interpreter"):
        made = plan.make_plan(point.scenario, str(source))
        for switch in made["switches"]:
            switch["config"]["engine"] = chosen
        out = tmp_path / chosen
        out.mkdir()
        engine.run(json.dumps(made), str(out), None)
        written.append({file.name: file.read_bytes() for file in sorted(out.iterdir())})
    assert len(written[0]) > 3
    assert written[0] == written[1]
