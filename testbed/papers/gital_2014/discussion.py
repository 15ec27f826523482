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
        "The paper names no sinks. A plain sink does not report holes to SACK and FACK. Narrows "
        "refuses that pair, so it was not run.",
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
        "The paper gives no parameters. ns-2's Vegas sends packets without their 40 bytes of "
        "headers; ours sends the headers.",
    ),
    Assumption(
        "Linux",
        "Reno's window with SACK recovery (RFC 6675)",
        "Without a module's name, ns-2's Linux agent uses Reno's window and its own recovery.",
    ),
)

FINDINGS: Final[tuple[Finding, ...]] = (
    Finding(
        "Two rows of Table II are probably swapped",
        "The text and the table rank the variants differently. If the rows of Vegas and NewReno "
        "are swapped, the table has the text's order, except for two neighbours with 600 users.",
        (),
        label_evidence,
    ),
    Finding(
        "200 Telnet users do not fill the link",
        "Each of 200 users sends one packet of 592 B per second: 0.95 Mb/s through a link of 2 "
        "Mb/s. No variant loses a packet, so all deliver what was written. With this traffic, "
        "congestion control cannot cause the differences in Table II.",
        ("throughput",),
        lambda finished: (
            f"{spread_percent('200', finished):.3f} % between best and worst; "
            + throughputs("200", finished)
        ),
    ),
    Finding(
        "Users need more than the link carries",
        "One update every 50 ms is 19.2 kb/s per user with headers. The paper's 200 users would "
        "need 3.8 Mb/s of a link of 2 Mb/s, with any TCP. The link has room for 104 users. An "
        "update must arrive within 100 ms, and the path takes 70 ms, so the queue must stay below "
        "30 ms. How many of the 104 users a TCP serves depends on its loss recovery.",
        ("updates",),
        lambda finished: (
            "within 100 ms, by users: Reno "
            + works(finished, WITHIN_100, "updates", "flow.count", "reno")
            + "; Linux "
            + works(finished, WITHIN_100, "updates", "flow.count", "linux")
        ),
    ),
    Finding(
        "A server in the cloud cannot meet 100 ms",
        "An update goes to the server, and from there to the other users. Each way takes 70 ms "
        "with empty queues. With 10 users the server sends 1.73 Mb/s; with 11 users it sends more "
        "than the link carries. The load grows with the square of the number of users. So the "
        "load decides the result, not the TCP.",
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
