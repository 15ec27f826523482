"""What the Python side holds, does or takes at most: every limit that guards its memory and its
time against hostile controllers and files. `common/src/budgets.rs` has those of the engine;
docs/reference/budgets.md lists both with what happens beyond them.
"""

from __future__ import annotations

# One gRPC message, either way.
MESSAGE_BYTES = 64 << 20
"""A program, or a batch of updates; gRPC's own limit is 4 MiB."""
UPDATES_OF_A_BATCH = 200_000
REPLICAS_OF_A_GROUP = 65_536
"""Of a multicast group or a clone session; as many copies descend from a packet."""
REPLICAS_OF_A_SWITCH = 1 << 20

# What waits for a controller that does not read.
BACKLOG_BYTES = 16 << 20
"""Of each stream."""
MESSAGE_OVERHEAD_BYTES = 512
"""What a waiting message takes besides its own bytes."""
DIGESTS_UNACKNOWLEDGED = 1 << 16
"""Values of one digest that wait to be sent, or to be acknowledged."""

# Arbitration.
ROLES = 1024
"""Roles whose highest election id is remembered; the one without controllers for longest goes."""
ROLE_NAME_BYTES = 256

# What the CPU port of a live switch passes on, unless `narrows switch` is told otherwise.
CPU_PACKETS_PER_S = 20_000
CPU_BYTES_PER_S = 20_000_000

# Errors.
MESSAGE_CHARACTERS = 600
"""Of a refusal; gRPC makes up to 12 bytes of each, and its headers hold 8 KiB."""
STATUS_BYTES = 5_000
"""Of the statuses of a batch's updates: base64 makes them a third longer, and clients take 8 KiB
of metadata."""

# Ends.
END_S = 2.0
"""From SIGTERM to the end of a daemon."""

# Files.
TEXT_FILE_BYTES = 256 << 20
"""Of a scenario, program, P4Info or script."""
LIVE_PORTS = 32
"""DPDK's RTE_MAX_ETHPORTS."""
