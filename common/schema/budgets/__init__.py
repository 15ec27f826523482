"""The budgets of the Python side: every limit that guards its memory and time against hostile
controllers and files. `common/src/budgets.rs` has those of the engine. docs/reference/budgets.md is
made from both: a comment is a heading there, and a constant says what it limits, then "Beyond it:"
and what happens.
"""

from __future__ import annotations

# Controllers
MESSAGE_BYTES = 64 << 20
"""One gRPC message, in either direction: a program, or a batch of updates. gRPC's own limit is
4 MiB. Beyond it: gRPC refuses the message with RESOURCE_EXHAUSTED.
"""
UPDATES_OF_A_BATCH = 200_000
"""Updates of one Write. Beyond it: the Write is refused with RESOURCE_EXHAUSTED."""
REPLICAS_OF_A_GROUP = 65_536
"""Copies of a packet by a multicast group or a clone session. Beyond it: the update is refused with
RESOURCE_EXHAUSTED.
"""
REPLICAS_OF_A_SWITCH = 1 << 20
"""The same, over all groups and sessions. Beyond it: the update is refused with
RESOURCE_EXHAUSTED.
"""
READ_ENTITIES = 200_000
"""Entities that one Read asks for; each may select many. Beyond it: the Read is refused with
RESOURCE_EXHAUSTED.
"""
READS = 16
"""Reads at a time. Beyond it: the Read is refused with RESOURCE_EXHAUSTED."""
READ_BYTES = 4 << 20
"""Responses of a read that are of one instant. Beyond it: writes may come between its responses."""
READ_S = 1.0
"""For how long a read keeps writes waiting. Beyond it: writes may come between its responses."""
GNMI_PATHS = 4096
"""Paths of a gNMI request. Beyond it: the request is refused with RESOURCE_EXHAUSTED."""
GNMI_ELEMENTS = 64
"""Elements and keys of a gNMI path; ours have 12 at most. Beyond it: the request is refused with
RESOURCE_EXHAUSTED.
"""
GNMI_VALUES = 1 << 17
"""Leaves that the paths of a Get or of a Subscribe select; a switch of 510 ports with a queue each
has 102,000. Beyond it: the request is refused with RESOURCE_EXHAUSTED.
"""
BACKLOG_BYTES = 16 << 20
"""Messages that wait for a controller that does not read, for each stream. Beyond it: later
messages are lost to this controller. The log says how many when its stream ends.
"""
MESSAGE_OVERHEAD_BYTES = 512
"""What a waiting message takes of `BACKLOG_BYTES` besides its own bytes."""
DIGESTS_UNACKNOWLEDGED = 1 << 16
"""Values of one digest that wait to be sent or acknowledged. Beyond it: later values are dropped
until a list is acknowledged.
"""
DIGEST_VALUES_AT_ONCE = 4096
"""Values of one digest that are sent to controllers before others have their turn. Beyond it: they
are sent with the next poll, 20 ms later.
"""
ROLES = 1024
"""Roles with a remembered highest election id. Beyond it: the role that has had no controller for
longest is forgotten.
"""
ROLE_NAME_BYTES = 256
"""A role's name. Beyond it: the arbitration is refused with INVALID_ARGUMENT."""
CPU_PACKETS_PER_S = 20_000
"""Packets per second that the CPU port of a live switch passes on; `narrows switch --cpu-packets`
changes it. Beyond it: packets are dropped and counted as `packet_ins_policed`.
"""
CPU_BYTES_PER_S = 20_000_000
"""The same in bytes per second: `--cpu-bytes`. Beyond it: packets are dropped and counted as
`packet_ins_policed`.
"""
MESSAGE_CHARACTERS = 600
"""The text of an error. gRPC expands each byte to up to 12, and its headers hold 8 KiB. Beyond it:
the message loses its middle.
"""
STATUS_BYTES = 5_000
"""The statuses of a batch's updates. Base64 adds a third, and clients accept 8 KiB of metadata.
Beyond it: messages lose their middles, then all messages are left out, then only the first updates
have a status. The call's message counts all.
"""
END_S = 2.0
"""From SIGTERM to the exit of a daemon. Beyond it: the daemon is ended."""

# Files
TEXT_FILE_BYTES = 256 << 20
"""A scenario, program, P4Info, trace or script. Beyond it: the file is refused."""
LIVE_PORTS = 32
"""Ports of a process, DPDK's RTE_MAX_ETHPORTS. Beyond it: the port or scenario is refused."""

# Bundles
BUNDLE_BYTES = 2 << 30
"""All files of a bundle of `narrows artifact`. Beyond it: `narrows verify` refuses the bundle."""
BUNDLE_FILES = 100_000
"""Files of a bundle. Beyond it: `narrows verify` refuses the bundle."""
