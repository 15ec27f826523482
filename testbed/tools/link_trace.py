"""`narrows link-trace`: makes link traces, and converts them between CSV and mahimahi's format.

The traces are made by models, not recorded:

- `cellular` is the model of Sprout (Winstein, Sivaraman, Balakrishnan, NSDI 2013, section 3.1). The
  rate of packets is a Brownian motion of `sigma` packets/s per square root of a second, between 0
  and a maximum. A link at 0 leaves it at random, once a second on average. Packets of 1,504 bytes
  come as a Poisson process at the rate.
- `satellite` draws a rate for each interval of 15 s, as low-orbit networks assign their links anew
  that often, and varies it by 10 % every 100 ms. An interval begins with an outage of 100 ms in one
  case of three.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from narrows.schema.units import PS_PER_MS, PS_PER_S
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.scenario.traces import links
from narrows.testbed.scenario.traces.links import LinkTrace

TICK_MS = 20
"""Time between two steps of the cellular model, as in Sprout."""
INTERVAL_S = 15


@dataclass(frozen=True)
class Model:
    """A kind of trace that can be made."""

    about: str
    make: Callable[[random.Random, int], LinkTrace]
    """The trace of so many seconds."""


def cellular(sigma: float, most: float) -> Callable[[random.Random, int], LinkTrace]:
    """Sprout's model with this volatility and greatest rate, in packets of 1,504 bytes a second."""

    def make(rng: random.Random, seconds: int) -> LinkTrace:
        tick_s = TICK_MS / 1000
        rate, counts = most / 2, list[int]()
        for _ in range(seconds * 1000 // TICK_MS):
            if rate > 0 or rng.random() < tick_s:
                rate += sigma * math.sqrt(tick_s) * rng.gauss(0, 1)
                rate = min(max(rate, 0.0), most)
            counts += [poisson(rng, rate / 1000) for _ in range(TICK_MS)]
        counts[-1] = max(counts[-1], 1)
        lines = [ms for ms, count in enumerate(counts, 1) for _ in range(count)]
        return links.parse_mahimahi("\n".join(map(str, lines)))

    return make


def satellite(rng: random.Random, seconds: int) -> LinkTrace:
    """A rate for each interval, with small changes and some outages."""
    steps = list[tuple[int, int]]()
    mean = 0.0
    for tick in range(seconds * 10):
        begins = tick % (10 * INTERVAL_S) == 0
        if begins:
            mean = min(max(rng.gauss(100e6, 35e6), 20e6), 250e6)
        rate = mean * (1 + 0.1 * rng.gauss(0, 1))
        if begins and tick and rng.random() < 1 / 3:
            rate = 0.0
        steps.append((tick * 100 * PS_PER_MS, max(int(rate / 1000) * 1000, 0)))
    return LinkTrace(steps, seconds * PS_PER_S)


def poisson(rng: random.Random, mean: float) -> int:
    """A Poisson number, by Knuth's product of uniforms."""
    limit, product, count = math.exp(-mean), rng.random(), 0
    while product > limit:
        product *= rng.random()
        count += 1
    return count


MODELS = {
    "cellular-walking": Model("slow changes up to 4.8 Mb/s", cellular(60, 400)),
    "cellular-driving": Model("fast changes up to 9.6 Mb/s", cellular(200, 800)),
    "satellite": Model("around 100 Mb/s, another rate every 15 s", satellite),
}
"""What can be made, by name."""


@dataclass(frozen=True)
class LinkTraceRequest:
    """What to read or make, and where to write it."""

    source: str
    """A file, or the name of a model."""
    out: Path
    seconds: int = 60
    seed: int = 1


def link_trace(request: LinkTraceRequest) -> str:
    """Writes the trace to a file, in CSV if its name ends so, else in mahimahi's format. Returns a
    line about it. Raises `InputError`.
    """
    try:
        if request.source in MODELS:
            if request.seconds < 1:
                raise InputError("--seconds", [Problem("", "expected at least 1", request.seconds)])
            made = MODELS[request.source].make(random.Random(request.seed), request.seconds)
        else:
            made = links.read(Path(request.source))
        is_csv = request.out.suffix == ".csv"
        text = links.as_csv(made) if is_csv else links.as_mahimahi(made)
    except links.LinkTraceError as error:
        raise InputError(request.source, [Problem("", str(error))]) from None
    try:
        request.out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(str(request.out), [Problem("", f"cannot be written ({error})")]) from None
    lost = " of 1,504 bytes" if not is_csv else ""
    lines = text.count("\n") - (1 if is_csv else 0)
    return (
        f"{request.out}: {made.period_ps / PS_PER_S:g} s, mean {made.mean_bps / 1e6:.3f} Mb/s,"
        f" {lines} {'rates' if is_csv else 'chances'}{lost}"
    )
