"""`narrows doctor --target tofino`: checks the lab, item by item, with remedies.

It reads the switch over BfRuntime, and the machine through /sys and /proc. It changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from narrows.controller.bfrt.client import BfrtError
from narrows.controller.bfrt.switch import PIPE, BfrtSwitch
from narrows.controller.drivers.bfrt import BfrtDriver
from narrows.controller.errors import DriverError
from narrows.controller.stages import ECN, LOSS, TELEMETRY
from narrows.controller.switch import FLOW, FORWARD, REPORT
from narrows.schema import units
from narrows.testbed.findings import Finding
from narrows.testbed.needs import NEEDS
from narrows.testbed.problems import InputError
from narrows.testbed.targets.dpdk import setup as dpdk
from narrows.testbed.targets.tofino.lab import BFRT_PORT, Lab, trusted
from narrows.testbed.targets.tofino.run import connected

TABLES = [
    f"{FORWARD}.ipv4_lpm", f"{FLOW}.flow", *(stage.table for stage in (LOSS, ECN, TELEMETRY)),
    f"{REPORT}.collector",
]  # fmt: skip
"""Tables that identify p4/tna.p4."""
DRIVERS = ("vfio-pci", "igb_uio", "uio_pci_generic")
OWN_DRIVERS = ("mlx5_core", "mlx4_core")
"""Cards that DPDK uses together with the kernel's driver."""


def findings(lab: Lab, path: Path) -> list[Finding]:
    """The findings about the switch and this machine."""
    return [*asyncio.run(of_switch(lab)), *of_machine(lab, path)]


async def of_switch(lab: Lab) -> list[Finding]:
    """The switch's: its server, its program, its ports."""
    address = lab.switch.address
    run = f"on the switch: $SDE/run_switchd.sh -p {lab.switch.program or 'tna'}"
    findings = list[Finding]()
    try:
        async with connected(lab) as tofino:
            driver, switch = tofino.driver, tofino.client
            assert isinstance(driver, BfrtDriver)
            assert isinstance(switch, BfrtSwitch)
            client = switch.client
            findings.append(Finding("BfRuntime", f"{address}, {client.device.prefix}"))
            lacking = [name for name in TABLES if PIPE + name not in client.schema.tables]
            what = None if lacking else client.program
            mend = f"{client.program} has no {', '.join(lacking)}: compile p4/tna.p4, then {run}"
            findings.append(Finding("program", what, mend))
            for name, port in lab.sides.items():
                number, speed = port.device_port, units.format_rate(port.speed)
                command = f"python -m narrows.controller --address {address} --bfrt set-port"
                mend = (
                    f"{command} {number} {speed} --fec {port.fec}; see the cable, and the far end"
                )
                up = await is_up(driver, number)
                findings.append(Finding(f"port {number} ({name})", "up" if up else None, mend))
    except BfrtError as error:
        mend = f"{error}\n           {run}, and let this machine reach port {BFRT_PORT} there"
        findings.append(Finding("BfRuntime", None, mend))
    return findings


async def is_up(driver: BfrtDriver, port: int) -> bool:
    """True if a port's link is up; false if the port is not configured."""
    try:
        return await driver.port_is_up(port)
    except DriverError:
        return False


def of_machine(lab: Lab, path: Path, root: Path = Path("/")) -> Iterator[Finding]:
    """This machine's: DPDK, hugepages, cards, clock, calibration. `root` has /sys and /proc."""
    for need in NEEDS:
        if need.name in ("libdpdk", "root"):
            yield Finding(need.name, need.find(), need.mend())
    nics = [port.nic for port in lab.sides.values()]
    memory_mib = dpdk.setup(nics).memory_mib
    free_mib = dpdk.free_hugepages_mib(root / "sys/kernel/mm/hugepages")
    what = f"{free_mib} MiB" if free_mib >= memory_mib else None
    yield Finding("hugepages", what, dpdk.more_hugepages(memory_mib))
    for nic in nics:
        if dpdk.PCI_ADDRESS.fullmatch(nic):
            yield bound(nic, root)
    yield from clock(lab, root)
    if lab.calibration is None:
        mend = 'narrows calibrate --out calibration.json, and calibration = "calibration.json"'
        yield Finding("calibration", None, f"{mend} in {path}")
    else:
        file = path.parent / lab.calibration
        try:
            yield Finding("calibration", f"up to {units.format_rate(trusted(file))}")
        except InputError:
            yield Finding("calibration", None, f"narrows calibrate --out {file}")


def bound(nic: str, root: Path) -> Finding:
    """Checks whether DPDK can use a card."""
    address = nic if nic.count(":") == 2 else f"0000:{nic}"
    device = root / "sys/bus/pci/devices" / address.lower()
    name = f"card {nic}"
    if not device.exists():
        return Finding(name, None, "no such card: lspci -D | grep -i ethernet")
    driver = (device / "driver").resolve().name if (device / "driver").exists() else "none"
    if driver in DRIVERS or driver in OWN_DRIVERS:
        return Finding(name, driver)
    mend = f"modprobe vfio-pci && dpdk-devbind.py --bind=vfio-pci {address} (driver: {driver})"
    return Finding(name, None, mend)


def clock(lab: Lab, root: Path) -> Iterator[Finding]:
    """One machine's time-stamp counter, or PTP."""
    source = read(root / "sys/devices/system/clocksource/clocksource0/current_clocksource")
    mend = "boot with tsc=reliable: the hosts' clock is the time-stamp counter"
    yield Finding("clock", source if source == "tsc" else None, f"{mend} (it is {source})")
    if lab.timing.kind != "ptp":
        return
    interface = lab.timing.interface
    clocks = sorted((root / f"sys/class/net/{interface}/device/ptp").glob("ptp*"))
    mend = f"{interface} has no hardware clock (ethtool -T {interface}); use a card with one"
    yield Finding("PTP clock", clocks[0].name if clocks else None, mend)
    running = processes(root)
    for name, command in (
        ("ptp4l", f"ptp4l -i {interface} -m"),
        ("phc2sys", f"phc2sys -s {interface} -w -m"),
    ):
        yield Finding(name, "runs" if name in running else None, command)


def processes(root: Path) -> set[str]:
    """The names of running processes."""
    return {read(path) for path in (root / "proc").glob("[0-9]*/comm")}


def read(path: Path) -> str:
    """A file's text; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""
