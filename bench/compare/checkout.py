"""A checkout that is set up: what its `narrows` and its controller make of a scenario."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from finsy.proto import p4r

from narrows.switch.server.p4runtime.service import P4RuntimeService
from narrows.switch.server.serve import serve
from narrows.testbed.engine import Switch


class CommandError(Exception):
    """A command of the checkout failed; the message says how it ended."""


@dataclass(frozen=True)
class Checkout:
    """A directory with a checkout of Narrows after `make setup`."""

    root: Path

    def plan(self, scenario: str, settings: Sequence[str]) -> dict[str, Any]:
        """The plan of a scenario's only point, with the state of its switches. Raises
        `CommandError`.
        """
        overrides = [word for setting in settings for word in ("--set", setting)]
        ended = self._narrows("plan", self.root / scenario, *overrides)
        if ended.returncode:
            raise CommandError(self._last_words(ended))
        plan: dict[str, Any] = json.loads(ended.stdout.replace(f"{self.root}/", ""))
        return plan

    def run(self, scenario: str, settings: Sequence[str], target: str, out: Path) -> Path:
        """The directory of the only run. Raises `CommandError` if the command left none."""
        overrides = [word for setting in settings for word in ("--set", setting)]
        options = ("--out", out, "--no-figures", "--jobs", "1", "--target", target)
        ended = self._narrows("run", self.root / scenario, *options, *overrides)
        directories = [path.parent for path in out.glob("*/[!.]*/run.json")]
        if len(directories) != 1:
            raise CommandError(self._last_words(ended))
        return directories[0]

    def writes(self, switch: dict[str, Any]) -> list[str]:
        """The updates that its controller sends over P4Runtime for a switch of a plan, in order.
        Raises `CommandError`.
        """
        config = {"switch": switch["config"] | {"ports": []}, "name": switch["name"]}
        service = RecordingService(Switch(json.dumps(config), 1))
        server, port = serve("127.0.0.1:0", [service.add_to])
        # The controller was a package of its own before it became part of `narrows`.
        package = "narrows.controller" if (self.root / "narrows").is_dir() else "controller"
        program = self.root / switch["program"]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as state:
            json.dump(switch, state)
            state.flush()
            ended = self._ended(
                ".venv/bin/python", "-m", package, "--address", f"127.0.0.1:{port}",
                "--p4info", program.with_suffix(".p4info.txtpb"), "--json", program,
                "push", "--state", state.name,
            )  # fmt: skip
        server.stop(None).wait()
        if ended.returncode:
            raise CommandError(self._last_words(ended))
        return service.updates

    def _narrows(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return self._ended(".venv/bin/narrows", *words)

    def _ended(self, program: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.root / program, *words], cwd=self.root, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    def _last_words(self, ended: subprocess.CompletedProcess[str]) -> str:
        said = ended.stderr.replace(str(self.root), "").strip().splitlines()
        return f"exit code {ended.returncode}: {' / '.join(said[-3:])}"


class RecordingService(P4RuntimeService):
    """A switch's P4Runtime that keeps the updates of all writes."""

    def __init__(self, target: Switch) -> None:
        super().__init__(target)
        self.updates = list[str]()

    def Write(  # noqa: N802
        self, request: p4r.WriteRequest, context: grpc.ServicerContext
    ) -> p4r.WriteResponse:
        """Keeps the batch, and applies it."""
        self.updates += [str(update) for update in request.updates]
        return super().Write(request, context)
