"""Why our senders and ns-2's differ where they do.

The key is a source's name, or `source: setup` for one case. A reason says which rule it is and how
that was seen; where it was not traced to one rule it says so.
"""

_FACK = """\
The same up to the one time-out, at 2.08 s. From there ns-2 sends by go-back-N in which SACKs then
leave holes, and three segments leave twice: 99 retransmissions for 96."""

_CHAOS = """\
Ten flows are chaotic: with starts 100, 103, 110 and 130 ms apart ns-2's own acknowledge 23158,
23717, 23602, 23235 with `rampdown_`, and 23654, 23166, 23404, 23272 with `ss-div4_` besides."""

_VEGAS = """\
After two losses the slot of a segment never sent looks old to ns-2, which sends that one twice."""

_FULL = """\
The same up to 2.26 s. There go-back-N behind the one time-out has sent again what had arrived, and
ns-2's window grows from 12 to 19 by those duplicates, though no loss is being repaired, and lets
out seven segments (`extra_ack`); ours holds them back, and each later cut comes 0.107 s sooner."""

_FULL_SACK = """\
Every cut within 3 ms, which is a packet's time."""

REASONS: dict[str, str] = {
    "Agent/TCP/Fack": _FACK,
    "Agent/TCP/Vegas": _VEGAS,
    "Agent/TCP/Fack rampdown_": _FACK,
    "Agent/TCP/Fack rampdown_ ss-div4_": _FACK,
    "Agent/TCP/Fack rampdown_: 10 flows": _CHAOS,
    "Agent/TCP/Fack rampdown_ ss-div4_: 10 flows": _CHAOS,
    "Agent/TCP/Vegas/RBP": _VEGAS,
    "Agent/TCP/FullTcp": _FULL,
    "Agent/TCP/FullTcp/Sack": _FULL_SACK,
}
