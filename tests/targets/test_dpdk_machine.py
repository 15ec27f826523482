"""The DPDK path's use of the machine: cores, hugepages, a wall clock that jumps."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from narrows.testbed import files, needs
from narrows.testbed.cli import main as cli
from narrows.testbed.cli import run
from narrows.testbed.problems import InputError
from narrows.testbed.runs.scenario import prepare
from narrows.testbed.targets.dpdk import setup as dpdk
from tests.support.real_time import needs_dpdk
from tests.support.world import ROOT, TWO_FLOWS, command, environment, write
from tests.targets.test_real_time import WIDE

TARGETS = [
    ((), 2, False),
    ((), 3, True),
    ((), 8, True),
    (("--no-processes",), 8, False),
    (("--processes",), 1, True),
    (("--hosts", "linux"), 8, False),
]


@pytest.mark.parametrize(("arguments", "cores", "parted"), TARGETS)
def test_three_cores_part_a_run_into_two_processes(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], cores: int, parted: bool
) -> None:
    monkeypatch.setattr(needs, "cores", lambda: cores)
    options = cli.parser().parse_args(["run", "any.toml", "--target", "dpdk", *arguments])
    assert run.run_request(options).settings["processes"] == parted


def test_free_hugepages_are_counted_and_missing_ones_named(tmp_path: Path) -> None:
    """16,384 mbufs of 2,368 bytes are 37 MiB, beside 64 for the rest: 51 pages of 2 MiB."""
    assert dpdk.setup(may_be_huge=False).memory_mib == 101
    assert dpdk.more_hugepages(101) == "sysctl -w vm.nr_hugepages=51"
    for name, free in (("hugepages-2048kB", "50\n"), ("hugepages-1048576kB", "0\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "free_hugepages").write_text(free)
    assert dpdk.free_hugepages_mib(tmp_path) == 100
    (tmp_path / "hugepages-1048576kB" / "free_hugepages").write_text("1\n")
    assert dpdk.free_hugepages_mib(tmp_path) == 1124
    assert dpdk.free_hugepages_mib(tmp_path / "none") == 0


TAKEN = """
import json
from narrows.testbed import engine
from narrows.testbed.targets.dpdk import setup as dpdk

port = {"port": 1, "queue": {"packets": 64}, "counts": "frame"}
config = {"switch": {"ports": [port], "timestamp_unit": "us"}}
switch = engine.Switch(json.dumps(config), 1)
setup = dpdk.Setup(mbufs=512, hugepages=True, pci=False, idle=None)
try:
    engine.Live(switch, [(1, "net_ring0", 0)], setup.as_text())
except engine.DeviceError as error:
    print(error)
"""


@needs_dpdk
@pytest.mark.skipif(dpdk.free_hugepages_mib() > 0, reason="hugepages are free here")
def test_hugepages_that_another_has_taken_meanwhile_are_named() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", TAKEN], env=environment(), capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("DPDK does not start: ")
    assert "hugepage" in ran.stdout


@pytest.fixture
def plain_path() -> Iterator[Path]:
    """A directory that LD_PRELOAD accepts, independent of TMPDIR."""
    with files.plain_directory() as directory:
        yield Path(directory)


@needs_dpdk
@pytest.mark.skipif(not shutil.which("cc"), reason="cc is not installed")
def test_a_wall_clock_that_jumps_an_hour_and_back_moves_nothing(
    tmp_path: Path, plain_path: Path
) -> None:
    """A run of three seconds, in every second one of which the wall clock is an hour ahead."""
    jump = plain_path / "jump.so"
    source = ROOT / "tests/support/clock_jump.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", jump, source], check=True)
    preloaded = {**environment(), "LD_PRELOAD": str(jump)}
    shown = "import time; a = time.time(); time.sleep(1); print(time.time() - a)"
    seen = subprocess.run(
        [sys.executable, "-c", shown],
        env=preloaded, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert abs(float(seen.stdout)) > 3000
    scenario = write(tmp_path, TWO_FLOWS + WIDE)
    ran = subprocess.run(
        command(
            "run", scenario, "--target", "dpdk", "--no-processes", "--out", tmp_path,
            "--no-figures", "--set", "duration=3s",
        ),
        env=preloaded, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    [path] = tmp_path.glob("scenario/[!.]*/run.json")
    record = json.loads(path.read_text())
    summary = json.loads(path.with_name("summary.json").read_text())
    assert record["valid"] is True
    assert summary["duration_s"] == pytest.approx(3.0, abs=1e-9)
    assert abs(record["instrument"]["clock_error_ppm"]) < 100
    assert record["instrument"]["clock_steps_back"] == 0


def row_of(switches: int) -> str:
    """A scenario of switches in a row. Each has a host, and each link a collector."""
    link = 'rate = "10Mbps"\ndelay = "1ms"\nqueue = "50packets"'
    parts = ['title = "A row"\nseed = 1\nduration = "1s"']
    parts += ['[access]\nrate = "100Mbps"\ndelay = "1ms"']
    for each in range(switches):
        parts += [f'[[switch]]\nname = "s{each}"\n[[host]]\nname = "h{each}"\nswitch = "s{each}"']
    for each in range(1, switches):
        ends = f'from = "s{each - 1}"\nto = "s{each}"\nbottleneck = {str(each == 1).lower()}'
        parts += [f"[[link]]\n{ends}\n{link}"]
    parts += [f'[[flow]]\nvariant = "reno"\nfrom = "h0"\nto = "h{switches - 1}"']
    return "\n".join(parts)


@pytest.mark.parametrize(
    ("switches", "option", "complaint"),
    [
        (6, "--no-processes", ""),
        (7, "--no-processes", "cables = 19: needs 38 DPDK ports in a process: expected at most 32;"
                              " try --processes, or --target sim"),
        (8, "--processes", ""),
        (9, "--processes", "cables = 25: needs 33 DPDK ports in a process: expected at most 32;"
                            " use --target sim"),
    ],
)  # fmt: skip
def test_more_ports_than_dpdk_opens_are_refused(
    tmp_path: Path, switches: int, option: str, complaint: str
) -> None:
    source = write(tmp_path, row_of(switches))
    options = cli.parser().parse_args(["run", str(source), "--target", "dpdk", option])
    request = run.run_request(options)
    if not complaint:
        [job] = prepare(request).jobs
        assert len(json.loads(job.plan)["cables"]) == 3 * switches - 2
        return
    with pytest.raises(InputError, match=re.escape(f"{source}: --target dpdk: {complaint}")):
        prepare(request)
