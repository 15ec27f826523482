"""Gital et al. 2014: what the paper leaves open, and why results differ."""

from __future__ import annotations

from typing import Final

from narrows.testbed.papers.gital_2014.measures import (
    WITHIN_100,
    WITHIN_200,
    label_evidence,
    spread_percent,
    throughputs,
    works,
)
from narrows.testbed.papers.paper import (
    Alternative,
    Assumption,
    Finding,
)

ASSUMPTIONS: Final[tuple[Assumption, ...]] = (
    Assumption(
        "traffic",
        "every user is a Telnet user with ns-2's mean gap of 1 s and packets of 552 B",
        "The paper says Telnet / CBR and 552 B / 200 B, without a rate or shares.",
        (
            Alternative("half CBR of 32 kb/s", {"throughput": (("choice.traffic", "half-cbr"),)}),
            Alternative(
                "half CBR of 4.4 kb/s", {"throughput": (("choice.traffic", "half-slow-cbr"),)}
            ),
            Alternative(
                "half CBR of 34.4 kb/s over UDP",
                {"throughput": (("choice.traffic", "half-udp-cbr"),)},
            ),
            Alternative(
                "half CBR of 4.7 kb/s over UDP",
                {"throughput": (("choice.traffic", "half-slow-udp-cbr"),)},
            ),
            Alternative("bulk transfers", {"throughput": (("choice.traffic", "bulk"),)}),
        ),
    ),
    Assumption(
        "sinks",
        "SACK, FACK and Linux have ns-2's Sack1 sink, the others the plain one",
        "The paper names no sinks; SACK and FACK with a plain sink learn nothing of holes, and "
        "our senders refuse such a pair, so there is no run of it.",
    ),
    Assumption(
        "queue",
        "DropTail of 100 packets",
        "The paper's limit of 100 has no unit; ns-2 counts packets.",
        (
            Alternative(
                "100 kB",
                {
                    "throughput": (("bottleneck.queue", "100KB"),),
                    "updates": (("bottleneck.queue", "100KB"),),
                },
            ),
        ),
    ),
    Assumption(
        "Vegas",
        "alpha 1, beta 3, as in ns-2",
        "The paper gives no parameters; ns-2's Vegas also sends packets without the 40 bytes "
        "of headers, ours does not.",
    ),
    Assumption(
        "Linux",
        "Reno's window with SACK recovery (RFC 6675)",
        "Without a module's name ns-2's Linux agent has Reno's window and its own recovery.",
    ),
)

FINDINGS: Final[tuple[Finding, ...]] = (
    Finding(
        "Two rows of Table II are probably exchanged",
        "Text and table order the variants differently. With the rows of Vegas and NewReno "
        "exchanged the table has the text's order, but for two neighbours with 600 users.",
        (),
        label_evidence,
    ),
    Finding(
        "With 200 Telnet users there is nothing to compare",
        "200 users with a packet of 592 B a second offer 0.95 Mb/s to a link of 2 Mb/s. No "
        "variant loses a packet, so all deliver what was written, and the differences of "
        "Table II cannot come from congestion control under this traffic.",
        ("throughput",),
        lambda finished: (
            f"{spread_percent('200', finished):.3f} % between best and worst; "
            + throughputs("200", finished)
        ),
    ),
    Finding(
        "The throughput that matters is not what the paper measured",
        "An update every 50 ms is 19.2 kb/s a user with headers: the paper's 200 users need "
        "3.8 Mb/s of a 2 Mb/s link, whichever TCP they use. Of the 100 ms the path takes 70, "
        "so a queue of 30 ms is too much. How near to the link's 104 users a TCP gets is a "
        "matter of its loss recovery.",
        ("updates",),
        lambda finished: (
            "within 100 ms, by users: Reno "
            + works(finished, WITHIN_100, "updates", "flow.count", "reno")
            + "; Linux "
            + works(finished, WITHIN_100, "updates", "flow.count", "linux")
        ),
    ),
    Finding(
        "Through a server in the cloud 100 ms are out of reach",
        "An update goes to the server and from there to the others: 70 ms each, before any "
        "queue. With 10 users the server sends 1.73 Mb/s, with 11 more than the link carries: "
        "the fan-out's square decides, not the TCP.",
        ("relay",),
        lambda finished: (
            "within 200 ms, by users: "
            + "; ".join(
                f"{tcp} {works(finished, WITHIN_200, 'relay', 'flow.count', tcp)}"
                for tcp in ("reno", "vegas", "linux")
            )
            + "; within 100 ms: "
            + works(finished, WITHIN_100, "relay", "flow.count", "reno")
        ),
    ),
)
