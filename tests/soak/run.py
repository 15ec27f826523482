"""Runs the soak: the switch, what disturbs it, and its process over time."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from narrows.testbed.targets.linux.namespaces import Plumbing
from tests.soak import ledger
from tests.soak.cables import Cable, lay, probes_at
from tests.soak.controllers import PROBE, Controllers
from tests.soak.traffic import Traffic
from tests.support.p4rt import CONTROL, DEVICE
from tests.support.switch_command import Running

PORTS = range(1, 5)
REPORT_S = 60
PAUSE_S = 0.3
"""Between two controllers; the machine has other work."""
QUIET_S = 10
"""How long the last packets may take."""
OPTIONS = (
    "--device-id", str(DEVICE), "--cpu-port", str(ledger.CPU), "--cpu-packets", "200",
    "--rate", "2=5Mbps", "--queue", "2=50packets", "--yield", "--no-huge",
)  # fmt: skip
PAGE_BYTES = 4096


@dataclass
class Sample:
    """The switch's process at one time."""

    seconds: float
    resident_mib: float
    files: int
    threads: int
    processor_s: float


@dataclass
class Soak:
    """A soak, and what it saw."""

    seconds: float
    samples: list[Sample] = field(default_factory=list)
    lines: list[ledger.Line] = field(default_factory=list)
    ended: ledger.Ended | None = None
    controllers: Controllers | None = None
    cables: dict[int, Cable] = field(default_factory=dict)
    end_s: float = 0.0
    """From SIGTERM to the exit."""
    code: int = 0
    errors: str = ""

    def run(self, say: Callable[[str], None]) -> None:
        """Runs it. Raises an error if a controller was not served, or found something lost."""
        with Plumbing() as plumbing:
            self.cables = lay(plumbing, PORTS)
            ports = [text for port in PORTS for text in ("-i", f"{port}@{self.cables[port].near}")]
            running = Running(CONTROL[1], "--p4info", CONTROL[0], *ports, *OPTIONS)
            try:
                self._disturb(running, say)
                self._end(running)
            finally:
                running.process.kill()
                running.process.wait()
                for cable in self.cables.values():
                    cable.close()

    def _disturb(self, running: Running, say: Callable[[str], None]) -> None:
        received = probes_at(self.cables[2], PROBE)
        self.controllers = Controllers(running.address, self.cables[1], received)
        traffic = Traffic(self.cables)
        begin = told = time.monotonic()
        self.samples.append(sample(running.process.pid, 0.0))
        traffic.start()
        try:
            while (passed := time.monotonic() - begin) < self.seconds:
                self.controllers.come_and_go()
                if time.monotonic() - told > min(REPORT_S, self.seconds / 10):
                    told = time.monotonic()
                    self.samples.append(sample(running.process.pid, passed))
                    say(f"{passed:.0f} s: {self.controllers.count} controllers, "
                        f"{self.samples[-1].resident_mib:.1f} MiB")  # fmt: skip
                time.sleep(PAUSE_S)
        finally:
            traffic.end()
            received.close()
        self.samples.append(sample(running.process.pid, time.monotonic() - begin))

    def _end(self, running: Running) -> None:
        """Waits until no packet is in flight, reads the counts, and ends the switch."""
        until = time.monotonic() + QUIET_S
        states = ledger.states(running.address, [*PORTS, ledger.CPU])
        while True:
            time.sleep(0.5)
            before, states = states, ledger.states(running.address, [*PORTS, ledger.CPU])
            if (states == before and ledger.is_quiet(states)) or time.monotonic() > until:
                break
        begin = time.monotonic()
        self.code, self.errors = running.end(signal.SIGTERM)
        self.end_s = time.monotonic() - begin
        self.ended = ledger.Ended.read(running.lines)
        self.lines = list(ledger.equations(self.cables, states, self.ended))


def sample(process: int, seconds: float) -> Sample:
    """Memory, open files, threads and processor time of a process."""
    at = Path("/proc") / str(process)
    resident = int((at / "statm").read_text().split()[1]) * PAGE_BYTES / 2**20
    ticks = sum(map(int, (at / "stat").read_text().rpartition(")")[2].split()[11:13]))
    files, threads = (len(list((at / name).iterdir())) for name in ("fd", "task"))
    return Sample(seconds, resident, files, threads, ticks / 100)
