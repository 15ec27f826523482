"""The soak's report: a conclusion, what came and went, the ledger, and the process over time."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from bench.run import commit, cpu
from narrows.schema import budgets

if TYPE_CHECKING:
    from tests.soak.run import Soak

WARM_UP = 0.2
"""The share of the time after which memory must not grow."""
GROWTH_MAX = 1.05
MEBIBYTES = 8
"""What a short soak may grow by."""
ROWS = 16


def verdicts(soak: Soak) -> dict[str, bool]:
    """What must hold, and whether it did."""
    settled, last = settled_mib(soak), soak.samples[-1].resident_mib
    first = soak.samples[1]
    return {
        "each frame is accounted for": all(line.holds for line in soak.lines),
        "memory is flat": last <= max(settled * GROWTH_MAX, settled + MEBIBYTES),
        "no file or thread is left behind": soak.samples[-1].files <= first.files + 8
        and soak.samples[-1].threads <= first.threads + 8,
        "SIGTERM ends it in time": soak.end_s <= budgets.END_S,
        "it ended well and said nothing on standard error": (soak.code, soak.errors) == (0, ""),
    }


def settled_mib(soak: Soak) -> float:
    """The memory after the warm-up."""
    after = WARM_UP * soak.samples[-1].seconds
    return next(one.resident_mib for one in soak.samples if one.seconds >= after)


def of(soak: Soak) -> str:
    """The report as Markdown."""
    return "\n".join([*conclusion(soak), *events(soak), *account(soak), *over_time(soak)]) + "\n"


def conclusion(soak: Soak) -> Iterator[str]:
    """What held, and by which command."""
    held = verdicts(soak)
    missing = [what for what, holds in held.items() if not holds]
    seconds = soak.samples[-1].seconds
    yield "# Soak of a live switch\n"
    yield (
        f"A live switch ran for {seconds / 60:.0f} minutes. "
        + ("It lost nothing without a reason.\n" if not missing else
           f"**This did not hold:** {'; '.join(missing)}.\n")
    )  # fmt: skip
    yield (
        f"Made by `make soak` on {datetime.date.today()}, commit {commit()}, on {cpu()}.\n"
        "`narrows switch` has a process of its own and four veth ports. `tests/soak` says what\n"
        "happens to it.\n"
    )
    yield "| what must hold | held |\n|---|---|"
    yield from (f"| {what} | {'yes' if holds else '**no**'} |" for what, holds in held.items())


def events(soak: Soak) -> Iterator[str]:
    """What came and went."""
    made, ended = soak.controllers, soak.ended
    assert made is not None and ended is not None
    cables = soak.cables.values()
    settled, last = settled_mib(soak), soak.samples[-1]
    yield "\n## What came and went\n"
    yield "| what | count |\n|---|---|"
    for what, count in (
        ("controllers served", made.count),
        ("programs pushed", made.pushes),
        ("probes sent again after a drop", made.probes_again),
        ("times that a link went down and up", sum(cable.flaps for cable in cables)),
        ("frames sent", sum(cable.handed for cable in cables)),
        ("frames refused by the kernel, with a link down", sum(cable.refused for cable in cables)),
    ):
        yield f"| {what} | {count:,} |"
    for port, wire in sorted(ended.wires.items()):
        for name in ("missed", "without memory", "not sent", "link downs"):
            if wire.get(name):
                yield f"| port {port}: {name} | {wire[name]:,} |"
    for reason, count in ended.drops.items():
        yield f"| dropped {reason} | {count:,} |"
    yield f"| MiB after the warm-up | {settled:.1f} |"
    yield f"| MiB at the end | {last.resident_mib:.1f} |"
    yield f"| share of a core, in percent | {100 * last.processor_s / last.seconds:.0f} |"
    yield f"| seconds from SIGTERM to the end | {soak.end_s:.2f} |"


def account(soak: Soak) -> Iterator[str]:
    """The ledger's equations."""
    yield "\n## Ledger\n"
    yield "| left; right | left | right |\n|---|---|---|"
    for line in soak.lines:
        right = f"{line.right:,}" if line.holds else f"**{line.right:,}**"
        yield f"| {line.what} | {line.left:,} | {right} |"


def over_time(soak: Soak) -> Iterator[str]:
    """The process over time, thinned."""
    yield "\n## The process over time\n"
    yield "| seconds | MiB | open files | threads | share of a core, in percent |"
    yield "|---|---|---|---|---|"
    every = max(1, len(soak.samples) // ROWS)
    chosen = [*soak.samples[:-1:every], soak.samples[-1]]
    for before, one in pairwise(chosen):
        share = (one.processor_s - before.processor_s) / (one.seconds - before.seconds)
        yield (
            f"| {one.seconds:.0f} | {one.resident_mib:.1f} | {one.files} | {one.threads} "
            f"| {100 * share:.0f} |"
        )
