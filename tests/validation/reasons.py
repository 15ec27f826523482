"""Why our senders and ns-2's differ where they do.

The key is a source's name, or `source: setup` for one case. A reason names the rule and how that
was found, or says that the difference was not traced to one rule.
"""

_FACK = """\
The same up to the one time-out, at 2.08 s. From there ns-2 uses go-back-N, in which SACKs leave
holes. It sends three segments twice: 99 retransmissions instead of 96."""

_CHAOS = """\
Ten flows are chaotic. With starts 100, 103, 110 and 130 ms apart, ns-2's own flows acknowledge
23158, 23717, 23602, 23235 with `rampdown_`. With `ss-div4_` too they acknowledge 23654, 23166,
23404, 23272."""

_VEGAS = """\
After two losses ns-2 takes the slot of an unsent segment for old, and sends that segment twice."""

_FULL = """\
The same up to 2.26 s. There go-back-N, after the one time-out, has retransmitted segments that had
arrived. Their duplicate ACKs grow ns-2's window from 12 to 19, though no loss is being repaired. It
sends seven more segments (`extra_ack`). Ours does not, and each later cut comes 0.107 s sooner."""

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
