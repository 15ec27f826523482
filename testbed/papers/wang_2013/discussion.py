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
        "one packet in 100,000",
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
                "10 Gb/s: bursts reach the path's queue of 1,000 packets",
                {"dynamic": (("access.rate", "10Gbps"),)},
            ),
        ),
    ),
    Assumption(
        "other traffic on the path",
        "none",
        "The real paths' traffic is not stated.",
        (
            Alternative(
                "a TCP flow with bursts of 100 Mb/s, half a second each",
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
        "Printed for Fig. 3, 6 and 11 only; the other targets are from the text on the curves.",
    ),
    Assumption(
        "Linux 2.6.18",
        "a first window of 3 segments; BIC and CUBIC leave slow start at 100; CUBIC's 0.8",
        "From that kernel's sources. Our senders lack its rate halving and its recovery.",
    ),
)

FINDINGS: Final[tuple[Finding, ...]] = (
    Finding(
        "AppTCP falls short of its target only during its start",
        "At 600 Mb/s, 2 GB take 27 s. Over 300 ms, slow start needs twelve round trips to reach "
        "the window. So the mean rate of the transfer is below the required rate, and the gap "
        "grows with the required rate. After 10 s the rate equals the required one.",
        ("required-rate",),
        partial(rates, "required-rate", quantity=SETTLED),
    ),
    Finding(
        "Vegas and Veno are slow only with other traffic",
        "Both estimate the queue from the round-trip time. The paper's two paths carried other "
        "traffic, and their round trips varied by 1 ms. At this rate Vegas takes 1 ms for 80 of "
        "its own packets in the queue; it aims at 2 to 4. Our paths carry other traffic in one "
        "alternative only: bursts of 100 Mb/s.",
        ("dynamic",),
        partial(ranked, THROUGHPUT, "dynamic", **FAR),
    ),
    Finding(
        "Without other traffic, Vegas leaves slow start through a loss",
        "The queue of one bandwidth-delay product fills in the last round of slow start. The "
        "shortest round trip in that round is still that of the empty path, so Vegas sees no "
        "queue. It loses 0.19 to 0.36 of its window (16 to 128 ms). The throughput then depends on "
        "loss repair, not on Vegas's rule.",
        ("round-trip",),
        partial(round_trips, "vegas"),
    ),
    Finding(
        "AppTCP needs a queue that holds its slow-start burst",
        "AppTCP doubles its window up to cwnd_base, which is 15,411 segments at 600 Mb/s and 300 "
        "ms. A loss never reduces the window below cwnd_base. A much shorter queue drops most of "
        "this burst, and AppTCP retransmits it as a burst.",
        ("round-trip",),
        partial(round_trips, "app-tcp"),
    ),
    Finding(
        "610 Mb/s cannot be payload",
        "IP packets of 1,500 B at 622 Mb/s carry 605 Mb/s of payload. So either the printed 610 "
        "includes headers, or the emulator's rate excluded them.",
        ("loss",),
        lambda finished: (
            "without losses: "
            + shown(finished.value(THROUGHPUT, "loss", tcp="app-tcp", loss=0.0), 1)
            + " Mb/s"
        ),
    ),
    Finding(
        "HSTCP fills the path before BIC's window grows",
        "In Linux 2.6.18, BIC and CUBIC leave slow start at 100 segments. HSTCP does not: it "
        "doubles its window up to the path's 15,500 segments. BIC then adds at most 16 segments "
        "per round trip, and finds the queue full. In the paper HSTCP is below BIC; it does not "
        "state which flow started first.",
        ("friendliness",),
        lambda finished: shares(finished, "hstcp", "cubic"),
    ),
    Finding(
        "Over 20 ms AppTCP reaches its target",
        "The target is 900 Mb/s of payload, and the rate stays there. BIC has no target, and "
        "uses all free capacity. A loss costs it a fifth of 1,550 segments. At 16 segments per "
        "round trip it regains them in about 0.4 s.",
        ("dynamic",),
        partial(ranked, THROUGHPUT, "dynamic", **NEAR),
    ),
    Finding(
        "AppTCP's throughput varies through loss repair; its window hardly varies",
        "The throughput of a second counts the bytes acknowledged in sequence. The sequence stops "
        "for the round trip of a repair and catches up afterwards. If a second ends during a "
        "repair, up to 0.139 s x 900 Mb/s = 125 Mb count in the next second. So 780 Mb/s are "
        "followed by 1,016, and 798 by 998. Without losses the deviation falls from 42 to 2.5 "
        "Mb/s over 139 ms (with a row every 10 ms; the runs above have one per second). Over 20 "
        "ms it falls from 2.1 to 0.3 Mb/s (0.03 MB/s). The paper prints 0.1 without a unit; that "
        "needs a minute without a loss on this path. We did not find the cause of the remaining "
        "2.5 Mb/s (0.3 MB/s) over 139 ms. Westwood varies less over 139 ms, at a third of the "
        "rate.",
        ("dynamic",),
        partial(held_window, "app-tcp"),
    ),
    Finding(
        "Westwood gains from a short round trip",
        "If Westwood's rate estimate is too low, its window is too small after a loss. It then "
        "grows by one segment per round trip. Over 20 ms it grows seven times as often as over "
        "139 ms, towards a window a seventh as large. The paper does not say what slowed Westwood "
        "over 20 ms.",
        ("dynamic",),
        partial(by_path, "westwood"),
    ),
)
