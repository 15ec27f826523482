"""Wang et al. 2013: what the paper leaves open, and why results differ."""

from __future__ import annotations

from functools import partial
from typing import Final

from narrows.testbed.papers.finished_runs import shown
from narrows.testbed.papers.paper import (
    Alternative,
    Assumption,
    Finding,
)
from narrows.testbed.papers.wang_2013.measures import (
    FAR,
    NEAR,
    SETTLED,
    THROUGHPUT,
    by_path,
    held_window,
    ranked,
    rates,
    round_trips,
    shares,
)

ASSUMPTIONS: Final[tuple[Assumption, ...]] = (
    Assumption(
        "loss on the path",
        "a packet in 100,000",
        "The real paths' losses are not stated.",
        (
            Alternative("none", {"dynamic": (("bottleneck.loss", 0.0),)}),
            Alternative("1e-4", {"dynamic": (("bottleneck.loss", 1e-4),)}),
        ),
    ),
    Assumption(
        "the sender's interface",
        "1 Gb/s, with a queue of its own that drops nothing",
        "Not stated; a disk of 333 MB/s would allow for 10 Gb/s.",
        (
            Alternative(
                "10 Gb/s, bursts meet the path's queue of 1,000 packets",
                {"dynamic": (("access.rate", "10Gbps"),)},
            ),
        ),
    ),
    Assumption(
        "others on the path",
        "none",
        "The real paths' traffic is not stated.",
        (
            Alternative(
                "a TCP with bursts of 100 Mb/s, half a second each",
                {"dynamic": (("choice.cross", "bursts"),)},
            ),
        ),
    ),
    Assumption(
        "the emulator's queue",
        "one bandwidth-delay product",
        "Not stated.",
        (
            Alternative("1,000 packets", {"round-trip": (("bottleneck.queue", "1000packets"),)}),
            Alternative("a quarter", {"round-trip": (("bottleneck.queue", "0.25bdp"),)}),
        ),
    ),
    Assumption(
        "AppTCP's target",
        "600 Mb/s in Fig. 4, 610 in Fig. 5, 900 in Fig. 8 and 9",
        "Printed for Fig. 3, 6 and 11 only; the others are read off the curves' description.",
    ),
    Assumption(
        "Linux 2.6.18",
        "a first window of 3 segments; BIC and CUBIC leave slow start at 100; CUBIC's 0.8",
        "What that kernel's sources had; its rate halving and its recovery are not ours.",
    ),
)

FINDINGS: Final[tuple[Finding, ...]] = (
    Finding(
        "What AppTCP misses is its start",
        "2 GB at 600 Mb/s take 27 s, and slow start over 300 ms needs twelve round trips to "
        "reach the window: the mean of the transfer is below the required rate, more so the "
        "higher that is. After 10 s the rate is the required one.",
        ("required-rate",),
        partial(rates, "required-rate", quantity=SETTLED),
    ),
    Finding(
        "Vegas and Veno are slow only beside others",
        "Both judge the queue by the round trip. The paper's two paths carried other traffic "
        "and their round trips moved by 1 ms, which Vegas, at this rate, takes for 80 of its "
        "own packets where it wants 2 to 4; ours have no others but in one of the alternatives "
        "above, bursts of 100 Mb/s.",
        ("dynamic",),
        partial(ranked, THROUGHPUT, "dynamic", **FAR),
    ),
    Finding(
        "Alone, Vegas leaves slow start by a loss",
        "The queue of one bandwidth-delay product fills in the last round of slow start, "
        "whose least round trip still is the empty path's: Vegas sees no queue and loses 0.19 "
        "to 0.36 of its window (16 to 128 ms). What follows is the repair's luck, not Vegas's "
        "rule. An earlier reproduction had 298 Mb/s at 32 ms: a slow start of ours that "
        "missed an ACK a round overshot to 7,171 segments, two time-outs followed, and "
        "samples of the full queue ended slow start at two segments, from where one a round "
        "trip took 53 s. Either mended alone makes it 598 or 580.",
        ("round-trip",),
        partial(round_trips, "vegas"),
    ),
    Finding(
        "AppTCP needs a queue that takes its slow start",
        "It doubles its window up to cwnd_base, 15,411 segments at 600 Mb/s and 300 ms, and a "
        "loss sets it back to no less. Where the bottleneck's queue is far below that, the "
        "burst is lost and sent again as a burst.",
        ("round-trip",),
        partial(round_trips, "app-tcp"),
    ),
    Finding(
        "610 Mb/s are not payload",
        "622 Mb/s of IP packets of 1,500 B carry 605 Mb/s of payload. A value of 610 counts "
        "headers, or the emulator did not.",
        ("loss",),
        lambda finished: (
            "without losses: "
            + shown(finished.value(THROUGHPUT, "loss", tcp="app-tcp", loss=0.0), 1)
            + " Mb/s"
        ),
    ),
    Finding(
        "HSTCP has the path before BIC climbs",
        "In Linux 2.6.18 BIC and CUBIC leave slow start at 100 segments, HSTCP does not: it "
        "doubles up to the path's 15,500, and BIC, which then adds at most 16 a round trip, "
        "finds the queue full. The paper has HSTCP below BIC and does not say who began.",
        ("friendliness",),
        lambda finished: shares(finished, "hstcp", "cubic"),
    ),
    Finding(
        "Over 20 ms AppTCP has what it asks for",
        "Its target is 900 Mb/s of payload, and it stays there. BIC asks for all there is, and "
        "a loss takes a fifth of 1,550 segments from it, which 16 a round trip bring back in "
        "some 0.4 s.",
        ("dynamic",),
        partial(ranked, THROUGHPUT, "dynamic", **NEAR),
    ),
    Finding(
        "AppTCP's seconds differ by its repairs, its window hardly does",
        "A second's throughput is what was acknowledged in sequence. That stands still for "
        "the round trip of a repair and catches up after it, so that a second which ends in "
        "between gives up to 0.139 s x 900 Mb/s = 125 Mb to the next: 780 Mb/s are followed "
        "by 1,016, 798 by 998. With no loss, the one thing changed, 42 Mb/s become 2.5 over "
        "139 ms (with a row each 10 ms; the runs above have one a second) and 2.1 become 0.3 "
        "(0.03 MB/s) over 20 ms. A minute without a loss is what the paper's 0.1 would take "
        "on the latter path; its unit it does not say. Over 139 ms 2.5 Mb/s (0.3 MB/s) are "
        "left, which were not traced. Westwood varies less over 139 ms with a third of the "
        "rate.",
        ("dynamic",),
        partial(held_window, "app-tcp"),
    ),
    Finding(
        "Westwood gains by a short round trip",
        "What its estimate of the rate leaves short after a loss it wins back by one segment "
        "a round trip: seven times as often over 20 ms as over 139, of a window a seventh as "
        "large. What slowed the paper's over 20 ms its text does not say.",
        ("dynamic",),
        partial(by_path, "westwood"),
    ),
)
