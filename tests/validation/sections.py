"""What the validation table is made of: the list to which a check is added."""

from __future__ import annotations

from narrows.testbed import catalogue
from tests.validation import cases, kernel, sanity
from tests.validation.against_ns2 import Comparison
from tests.validation.disciplines import against_ns3, alone, in_p4
from tests.validation.named import by_name, by_option
from tests.validation.table import Column, Section

AGENTS = Comparison({source.name: source for source in cases.agents()}, cases.SETUPS)
MODULES = Comparison(
    {source.variant: source for source in cases.modules()}, cases.MODULE_SETUPS, "ns-2 at {}"
)

VARIANTS = [str(record["name"]) for record in catalogue.records("variants")]
SENDERS = [str(record["name"]) for record in catalogue.records("senders")]
RECOVERIES = [str(record["name"]) for record in catalogue.records("recoveries")]

SECTIONS = (
    Section(
        "ns-2's sources",
        """\
Against ns-2 2.35, each source with its own sink. First come chosen losses in a window of 30 on
8 Mb/s and 50 ms for 10 s. Then 1, 2 and 10 flows run for 100 s through a bottleneck of 2 Mb/s and
50 ms with a queue of 20.

Counts are segments acknowledged / window cuts without a time-out / time-outs / retransmissions.
*Same* means that all counts agree, each event within 2 ms and each window within 0.01 segments. One
segment may be acknowledged after the end. Several flows are chaotic, so only their total delivery
is checked, to within 1 %.""",
        "source",
        list(AGENTS.sources),
        AGENTS.columns(),
    ),
    Section(
        "Congestion control",
        """\
- *Arithmetic*: tests that compare a variant's window with numbers of its RFC or paper.
- *Behaviour*: tests that compare it with published behaviour on a path.
- *ns-2 at 10, 50 Mb/s*: against the Linux 2.6.22 module in ns-2's Agent/TCP/Linux. One flow runs
  for 100 s over 50 ms, with queues of 50 and 250. Counts are as above. The recovery is that
  agent's: `linux-ns2`, or `linux-ns2-min` if the module sets `min_cwnd`. Illinois and Westwood have
  the errors of 2.6.22 and ns-2 switched on (`ns2_cut`, `ns2_floor`).""",
        "variant",
        VARIANTS,
        [
            Column(
                "arithmetic",
                by_name(VARIANTS, "hosts/tests/variants/*.rs", "hosts/tests/window_rules.rs"),
            ),
            Column(
                "behaviour on a path",
                by_name(
                    VARIANTS,
                    "hosts/tests/bbr.rs",
                    "hosts/tests/exact_marks.rs",
                    "hosts/tests/ns2/idle.rs",
                ),
            ),
            *MODULES.columns(),
            Column("Linux kernel", kernel.by_arithmetic),
        ],
    ),
    Section(
        "Shared paths and losses at random",
        sanity.TEXT,
        "variant",
        VARIANTS,
        sanity.COLUMNS,
    ),
    Section(
        "Loss recovery",
        """\
Tests of the rule alone, against ns-2, and against the running kernel, which must send the same as
ours on each ACK. The last column has packetdrill scripts.""",
        "recovery",
        RECOVERIES,
        [
            Column(
                "tests",
                by_name(
                    RECOVERIES,
                    "hosts/src/recovery/*.rs",
                    "hosts/tests/ns2/senders.rs",
                    "hosts/tests/rack.rs",
                    "tests/interop/test_recovery.py",
                ),
            ),
            Column("packetdrill", by_option("recovery", "tests/packetdrill/*.pkt")),
        ],
    ),
    Section(
        "Datagrams",
        """\
- *Arithmetic*: tests of wire formats, counts, TFRC's equation and loss intervals, against RFC 768,
  3550 and 5348.
- *Path and ns-2*: against arithmetic and ns-2 2.35 (`hosts/tests/ns2/datagrams.tcl`, `tfrc.tcl`).
- UDP sends CBR over a saturated link. The counts of 100 s are the same as in ns-2.
- TFRC loses one datagram of 20, 100 and 400. Ours is within 0.1 % of RFC 5348's equation. ns-2's is
  within 0.1 % of the equation with its own t_RTO: TCP's, in ticks of 100 ms, and 3 R for 4 R. On a
  saturated link ours and ns-2's agree to 0.5 %.""",
        "variant",
        SENDERS,
        [
            Column("arithmetic", by_name(SENDERS, "hosts/src/udp/*.rs", "hosts/src/udp/*/*.rs")),
            Column("path and ns-2", by_name(SENDERS, "hosts/tests/udp/*.rs")),
        ],
    ),
    Section(
        "Queue disciplines alone",
        alone.TEXT,
        "discipline",
        alone.ROWS,
        alone.columns(),
    ),
    Section(
        "Queue disciplines in P4",
        in_p4.TEXT,
        "discipline",
        in_p4.ROWS,
        in_p4.columns(),
    ),
    Section(
        "Queue disciplines and ns-3",
        against_ns3.TEXT,
        "discipline",
        list(against_ns3.CASES),
        against_ns3.columns(),
    ),
    kernel.section(),
)
