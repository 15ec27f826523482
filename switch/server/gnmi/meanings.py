"""What each leaf means, for docs/reference/gnmi-paths.md."""

from __future__ import annotations

from collections.abc import Sequence

from narrows.schema.records import DisciplineRecord
from narrows.switch.server.gnmi.leaves import Leaf

MEANINGS = {
    "name": "The port's number as a name; a queue's own number; `0` for the buffer of all queues.",
    "interface-id": "The port's number as a name.",
    "ifindex": "The port's number, as P4Runtime has it.",
    "admin-status": "`UP`.",
    "oper-status": "`UP`.",
    "in-pkts": "Packets received.",
    "in-octets": "Bytes received.",
    "out-pkts": "Packets whose transmission began.",
    "out-octets": "Their bytes, as they count against the rate.",
    "out-discards": "Packets dropped by the queue and by egress.",
    "buffer-allocation-profile": "The name of the port's buffer allocation profile.",
    "queue-management-profile": "The name of the port's queue management profile.",
    "transmit-pkts": "Packets whose transmission began.",
    "transmit-octets": "Their bytes, as they count against the rate.",
    "dropped-pkts": "Packets that the queue dropped, for whatever reason.",
    "dropped-octets": "Their bytes, as they would count against the rate.",
    "marked-pkts": "Packets marked, by the queue or by the program's egress.",
    "max-queue-len": "The most bytes that have waited.",
    "avg-queue-len": "Mean bytes that wait, over the switch's time so far.",
    "enqueued-pkts": "Packets stored.",
    "dequeued-pkts": "Packets taken out for egress.",
    "queue-len": "Bytes that wait now.",
    "queue-len-packets": "Packets that wait now.",
    "max-queue-len-packets": "The most packets that have waited.",
    "avg-queue-len-packets": "Mean packets that wait, over the switch's time so far.",
    "sequence": "The scheduler's number: 0 for the port's, a queue's number plus 1 for a queue's.",
    "priority": "`STRICT` for a queue that is served before those with a weight.",
    "id": "The queue's number as a name.",
    "queue": "The queue's number as a name.",
    "weight": "The queue's share among those with a weight; absent if it has none.",
    "type": "The scheduler's type.",
    "cir": "The rate of the port, or the most that the queue sends; absent if there is no limit.",
    "dedicated-buffer": "The queue's limit in bytes.",
    "dedicated-buffer-temporal": "The queue's limit as time at the port's rate, rounded down.",
    "dedicated-buffer-packets": "The queue's limit in packets.",
    "min-threshold": "The average of `red` above which it drops; absent unless that is in force.",
    "max-threshold": "The average at which `max-drop-probability-percent` is reached.",
    "enable-ecn": "Whether `red` marks packets that can be marked.",
    "max-drop-probability-percent": "The probability at `max-threshold`, rounded.",
    "discipline": "The queue's discipline. A new one takes over the waiting packets.",
}
"""By the leaf's name."""


def meaning(leaf: Leaf, disciplines: Sequence[DisciplineRecord]) -> str:
    """What a leaf means; a discipline's parameter or a reason to drop is named by its record."""
    name = leaf.path[-1][0]
    if name in MEANINGS:
        return MEANINGS[name]
    if name.startswith("dropped-"):
        return f"Packets dropped for the reason `{name[len('dropped-') : -len('-pkts')]}`."
    if name.startswith("marked-"):
        return f"Packets marked for the reason `{name[len('marked-') : -len('-pkts')]}`."
    # Both names may have dashes.
    discipline, parameter = next(
        (record["name"], each["name"])
        for record in disciplines
        for each in record["parameters"]
        if name == f"{record['name']}-{each['name']}"
    )
    return f"The parameter `{parameter}` of `{discipline}`; absent unless that is in force."
