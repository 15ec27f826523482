"""Why our senders and ns-2's differ where they do.

The key is a source's name, or `source: setup` for one case. A reason says which rule it is and how
that was seen; where it was not traced to one rule it says so.
"""

_FACK = """\
One time-out waits 0.20 s here and 0.50 s in ns-2, whose packets carry the time they left, so that
Fack takes round-trip samples from every ACK of recovery where ours times one segment. The rest
follows it: the second cut comes 0.29 s sooner."""

_MODULE = """\
Agent/TCP/Linux does not cut at once: it lets the window fall by a segment every second ACK, to half
of the module's threshold, and has ns-2's burst limit of three; ours cuts to the module's window and
repairs by RFC 6675."""

_VEGAS = """\
ns-2's SYN has 1,040 bytes, ours 40 and options: an ACK more in 100 s. After two losses the slot of
a segment never sent looks old to ns-2, which sends that one twice."""

_FULL = """\
Losses the same; on the saturated path the first cut comes a packet's time (2.3 ms) later here. ns-2
acknowledges the SYN's answer with a packet of its own ahead of the data; ours with the data."""

REASONS: dict[str, str] = {
    "Agent/TCP/Fack": _FACK,
    "Agent/TCP/Vegas": _VEGAS,
    "Agent/TCP/Fack rampdown_": _FACK,
    "Agent/TCP/Fack rampdown_ ss-div4_": _FACK,
    "Agent/TCP/Vegas/RBP": _VEGAS,
    "Agent/TCP/FullTcp": _FULL,
    "Agent/TCP/FullTcp/Tahoe": _FULL,
    "Agent/TCP/FullTcp/Newreno": _FULL,
    "Agent/TCP/FullTcp/Sack": _FULL,
    "Agent/TCP/Asym": """\
The same up to the first time-out; the cut after it comes 0.24 s sooner. Not traced to one rule.""",
    "Agent/TCP/Linux scalable": _MODULE,
    "Agent/TCP/Linux highspeed": _MODULE,
    "Agent/TCP/Linux hybla": _MODULE,
    "Agent/TCP/Linux yeah": f"{_MODULE} 2.6.22's YeAH has no floor of two segments.",
    "Agent/TCP/Linux westwood": """\
ns-2 never tells the module that recovery has ended, so its Westwood halves like Reno; ours cuts to
what it has measured, which is low after slow start (LIMITATIONS.md).""",
    "Agent/TCP/Linux illinois": """\
One loss ends in a time-out here, none in ns-2. With the handshake's round trip for its base, which
Linux does not take, it was 0.12 % off. Not traced to one rule.""",
}
