"""Islam et al. 2009: what the paper leaves open, and why results differ."""

from __future__ import annotations

from functools import partial
from typing import Final

from narrows.testbed.papers.finished_runs import listed
from narrows.testbed.papers.islam_2009.measures import (
    BANDWIDTH,
    DELAY,
    PACKETS,
    fack_text,
    same_sink,
    table_text,
    vegas_gain_percent,
)
from narrows.testbed.papers.paper import (
    Alternative,
    Assumption,
    Finding,
)

ASSUMPTIONS: Final[tuple[Assumption, ...]] = (
    Assumption(
        "the queue of Table 3",
        "7 packets",
        "Not stated. Without losses all sources would behave alike.",
        (
            Alternative("4 packets", {"rate": (("bottleneck.queue", "4packets"),)}),
            Alternative("50 packets", {"rate": (("bottleneck.queue", "50packets"),)}),
        ),
    ),
    Assumption(
        "the window",
        "20 packets, ns-2's default",
        "Not stated.",
        (
            Alternative(
                "40 packets",
                {
                    "bandwidth": (("flow.window", "40packets"),),
                    "rate": (("flow.window", "40packets"),),
                },
            ),
        ),
    ),
    Assumption(
        "ns-2's version",
        "2.27: least time-out 1 s, first 6 s, windows halved to whole packets",
        "The paper cites it; newer versions have 0.2 s and 3 s.",
        (Alternative("2.35", {"rate": (("profile", "ns2"),)}),),
    ),
    Assumption(
        "the sinks",
        "Sack1 for SACK and FACK, DelAck for NewrenoASYM, TCPSink for the others",
        "Not stated. With a sink that acknowledges each packet, NewrenoASYM behaves as NewReno.",
        (
            Alternative("TCPSink for all", {"bandwidth": same_sink("TCPSink")}),
            Alternative("DelAck for all", {"bandwidth": same_sink("TCPSink/DelAck")}),
        ),
    ),
    Assumption(
        "time to live and round-trip time",
        "three switches, each of which decrements it; a window of 100 packets, a queue of 10",
        "The abstract names both, but the paper has no result for either.",
        (Alternative("a window of 20 packets", {"round-trip": (("flow.window", "20packets"),)}),),
    ),
)

FINDINGS: Final[tuple[Finding, ...]] = (
    Finding(
        "NewrenoASYM leads if all sources have its sink",
        "Its window grows by one segment for each acknowledged segment. So a sink that "
        "acknowledges every second segment does not slow its start. It receives less than sources "
        "whose sink acknowledges every packet. With DelAck for all sources, one of the "
        "alternatives, it receives more, as in Table 1. So all sources of Table 1 probably had "
        "such a sink.",
        ("bandwidth",),
        partial(table_text, "bandwidth", BANDWIDTH),
    ),
    Finding(
        "FACK's row equals Reno's, less 0.7 to 0.8 s",
        "Without losses FACK sends what Reno sends, both here and in the paper's Table 2. In "
        "Table 1, FACK has fewer packets, by about the same number in all columns. At 20 packets "
        "per round trip of about 180 ms, that is 0.7 to 0.8 s of sending. A later start or one "
        "time-out would explain it; bandwidth does not. In the paper Vegas equals Reno. Here "
        "Vegas doubles its window only in every second round trip. That costs 47 packets until "
        "its window is 20.",
        ("bandwidth",),
        fack_text,
    ),
    Finding(
        "Vegas's lead comes from headers that ns-2 omits",
        "ns-2's Vegas sends packets of 1,000 B; all other sources send 1,040 B. So 4 % more of its "
        "packets fit through a full link. The printed lead is 2.0 to 5.1 %. Our Vegas sends its "
        "headers, and has no lead if the window is the limit. The paper's explanation is "
        "piggybacking, which does not exist in a one-way transfer.",
        ("delay",),
        lambda finished: (
            "ours, Vegas above Reno: "
            + ", ".join(
                f"{delay}: {vegas_gain_percent(delay, finished).mean:+.2f} %"
                for delay in finished.swept("delay", DELAY)
            )
        ),
    ),
    Finding(
        "Table 1's last column does not fit the others",
        "With 20 packets per round trip, only the transmission time of a packet differs between "
        "columns: 4.16, 1.04, 0.52 and 0.26 ms of about 180 ms. From 16 to 32 Mb/s that is a gain "
        "of 0.15 %, or 5 packets. The table has a gain of 30 packets in all rows.",
        ("bandwidth",),
        partial(table_text, "bandwidth", BANDWIDTH),
    ),
    Finding(
        "Table 3's plateau is reproduced; its column of 5 Mb/s is not",
        "From 10 Mb/s on, the window of 20 packets is the limit. The sources differ by their "
        "losses in slow start. Reno and Vegas are below NewReno, Sack1 and Fack, as printed. "
        "Tahoe equals Reno in the paper, but not here. At 5 Mb/s the printed sources differ by a "
        "fifth. With a window of 20 packets that needs a queue too short for the window. With the "
        "losses of such a queue Vegas is first here, but last in the paper.",
        ("rate",),
        lambda finished: listed(
            finished.values(PACKETS, "rate", "choice.source", rate="5Mbps"), 0, "packets"
        ),
    ),
)
