"""The budgets of the Python side: every limit that guards its memory and time against hostile
controllers and files. `common/src/budgets.rs` has those of the engine; docs/reference/budgets.md
lists both, with the effect of exceeding each.
"""

from __future__ import annotations

# One gRPC message, in either direction.
MESSAGE_BYTES = 64 << 20
"""A program, or a batch of updates; gRPC's own limit is 4 MiB."""
UPDATES_OF_A_BATCH = 200_000
REPLICAS_OF_A_GROUP = 65_536
"""Copies of a packet by a multicast group or a clone session."""
REPLICAS_OF_A_SWITCH = 1 << 20

# Messages that wait for a controller that does not read.
BACKLOG_BYTES = 16 << 20
"""For each stream."""
MESSAGE_OVERHEAD_BYTES = 512
"""The memory of a waiting message besides its own bytes."""
DIGESTS_UNACKNOWLEDGED = 1 << 16
"""Values of one digest that wait to be sent or acknowledged."""

# Arbitration.
ROLES = 1024
"""Roles with a remembered highest election id.

The role that had no controllers for longest is forgotten.
"""
ROLE_NAME_BYTES = 256

# The default limit of packets that the CPU port of a live switch passes on.
CPU_PACKETS_PER_S = 20_000
CPU_BYTES_PER_S = 20_000_000

# Errors.
MESSAGE_CHARACTERS = 600
"""The text of an error. gRPC expands each byte to up to 12, and its headers hold 8 KiB."""
STATUS_BYTES = 5_000
"""The statuses of a batch's updates. Base64 adds a third, and clients accept 8 KiB of metadata."""

# Shutdown.
END_S = 2.0
"""From SIGTERM to the exit of a daemon."""

# Files.
TEXT_FILE_BYTES = 256 << 20
"""A scenario, program, P4Info or script."""
LIVE_PORTS = 32
"""DPDK's RTE_MAX_ETHPORTS."""
