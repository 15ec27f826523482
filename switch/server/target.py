"""The interface between the servers and a switch, which `narrows._engine.Switch` implements.

Names are those of the P4 program. Values are text, hexadecimal after 0x. `narrows.schema.switch`
types entries and actions. Every method may raise `TargetError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Protocol, TypedDict

from narrows.schema import budgets
from narrows.schema.flow import LengthBasis
from narrows.schema.plan import QueueShare
from narrows.schema.records import DisciplineRecord, QueueReason
from narrows.schema.switch import (
    CloneSession,
    DefaultAction,
    DisciplineConfig,
    Match,
    ProfileGroup,
    ProfileMember,
    QueueLimit,
    Replica,
    TableEntry,
)

Kind = Literal[
    "not-found",
    "already-exists",
    "invalid-argument",
    "out-of-range",
    "resource-exhausted",
    "permission-denied",
    "failed-precondition",
    "unimplemented",
    "internal",
]


class Choice(TypedDict):
    """What a table runs: an action of the program, with its parameters."""

    action: str
    params: dict[str, str]


class ProfileKey(TypedDict):
    """What names a member or a group of an action profile, to delete it."""

    profile: str
    id: int


class Discipline(TypedDict):
    """A port's queue discipline, with every parameter in base units."""

    name: str
    parameters: dict[str, float]


class QueueClass(TypedDict):
    """What one of a port's several queues has of its own; None: nothing."""

    weight: int | None
    rate_bps: int | None


class QueueCounts(TypedDict):
    """What one or more queues of a port have done. Means are over the time since the start."""

    enqueued: int
    dequeued: int
    drops: dict[str, int]
    """Packets by reason, as are the marks."""
    dropped_bytes: int
    """Without packets dropped in egress."""
    marks: dict[str, int]
    transmitted: int
    transmitted_bytes: int
    waiting_packets: int
    waiting_bytes: int
    depth_max_packets: int
    depth_max_bytes: int
    depth_mean_packets: float | None
    """None: the target does not keep it."""
    depth_mean_bytes: float | None


class PortState(QueueCounts):
    """A port's settings and counters. Counts are those of all its queues; a largest depth is that
    of one queue.
    """

    port: int
    rate_bps: int | None
    """None: no limit."""
    queue: QueueLimit
    discipline: Discipline
    classes: list[QueueClass]
    """Of each of several queues; empty for a port with one, or with equal ones."""
    counts: LengthBasis
    received: int
    received_bytes: int
    queues: list[QueueCounts]
    """Of each of its queues, the first served first."""


class TwoRateMeter(TypedDict):
    """A two-rate three-color meter (RFC 2698)."""

    cir: int
    cburst: int
    pir: int
    pburst: int


class SingleRateMeter(TypedDict):
    """A single-rate three-color meter (RFC 2697)."""

    cir: int
    cburst: int
    eburst: int


MeterConfig = TwoRateMeter | SingleRateMeter


class TargetError(Exception):
    """Why a switch refused: a kind, and a message that names the object."""

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(kind, message)
        self.kind: Kind = kind
        self.message = message

    def __str__(self) -> str:
        return self.message


def short(message: str) -> str:
    """A message that fits HTTP/2's headers, whatever values it echoes."""
    half = budgets.MESSAGE_CHARACTERS // 2
    is_short = len(message) <= budgets.MESSAGE_CHARACTERS
    return message if is_short else f"{message[:half]} ... {message[-half:]}"


def invalid(message: str) -> TargetError:
    """An invalid argument."""
    return TargetError("invalid-argument", message)


class Target(Protocol):
    """A switch. Methods may be called from any thread."""

    def check(self, program_json: str) -> None:
        """Raises if the switch cannot run this bmv2 JSON."""

    def load(self, program_json: str) -> None:
        """Replaces the program by this bmv2 JSON, with empty tables. Ports keep rate, limit and
        counters. Queued packets are lost and counted as dropped in egress.
        """

    def pause(self) -> None:
        """Holds packets until `resume` has been called as often as `pause`."""

    def resume(self) -> None:
        """Ends a `pause`."""

    def now_ps(self) -> int:
        """The switch's clock: the time of its last action."""

    def statistics(self) -> dict[str, int]:
        """Counters of the switch, without those of ports: `received`, `parser_errors`,
        `checksum_errors`, `dropped_ingress`, `dropped_egress`, `no_such_port`, `no_such_group`,
        `aborted`, `endless`, `digests_lost`, `packet_ins_policed`, `packet_ins_no_room`,
        `no_program`.
        """

    def ports(self) -> list[int]:
        """Its ports' numbers, ascending."""

    def queues(self) -> dict[int, int]:
        """How many queues each port has, 1 to 8, by the ports' numbers."""

    def port_state(self, port: int) -> PortState:
        """A port's settings and counters."""

    def set_rate(self, port: int, rate_bps: int) -> None:
        """Sets a port's rate from now on."""

    def set_queue_limit(self, port: int, limit: QueueLimit) -> None:
        """Sets a queue's limit, in the format of `port_state`."""

    def set_discipline(self, port: int, discipline: DisciplineConfig) -> None:
        """Sets a port's queue discipline, in the format of `port_state`. Absent parameters take
        their defaults. Queued packets stay queued.
        """

    def set_share(self, port: int, share: QueueShare) -> None:
        """Sets the weight or the rate of one of a port's several queues; None keeps a value."""

    def disciplines(self) -> list[DisciplineRecord]:
        """The records of the queue disciplines: `name`, `title`, `parameters` and more."""

    def drop_reasons(self) -> list[QueueReason]:
        """The reasons for dropped packets: `name`, `meaning`."""

    def mark_reasons(self) -> list[QueueReason]:
        """The reasons for marked packets: `name`, `meaning`."""

    def insert_entry(self, entry: TableEntry) -> None:
        """Adds an entry."""

    def modify_entry(self, entry: TableEntry) -> None:
        """Changes the action of the entry with these matches and priority."""

    def delete_entry(self, entry: TableEntry) -> None:
        """Removes the entry with these matches and priority."""

    def entry(self, entry: TableEntry) -> tuple[TableEntry, int, int] | None:
        """The entry with these matches and priority, and its packets and bytes."""

    def entries_from(
        self, table: str, first: int
    ) -> tuple[list[tuple[TableEntry, int, int]], int | None]:
        """A part of a table's entries, with their packets and bytes (0 without a direct counter),
        and where the next part begins; None after the last. The first part begins at 0.
        """

    def set_entry_count(self, entry: TableEntry, packets: int, octets: int) -> None:
        """Sets an entry's direct counter."""

    def default_count(self, table: str) -> tuple[int, int]:
        """Packets and bytes that ran the default action, for a table with a direct counter."""

    def set_default_count(self, table: str, packets: int, octets: int) -> None:
        """Sets the direct counter of a table's default action."""

    def default_action(self, table: str) -> Choice | None:
        """`action` and `params` of a table's default, if it has one."""

    def set_default_action(self, default: DefaultAction) -> None:
        """Sets a table's default: `table`, `action`, `params`."""

    def reset_default_action(self, table: str) -> None:
        """Restores a table's default action to the program's."""

    def read_counters(self, name: str, first: int, count: int) -> list[tuple[int, int]]:
        """Packets and bytes of `count` counter cells."""

    def write_counter(self, name: str, index: int, packets: int, octets: int) -> None:
        """Sets a cell."""

    def configure_meter(self, name: str, index: int, config: MeterConfig | None) -> None:
        """Configures a cell; with None every packet is green."""

    def configure_entry_meter(self, entry: TableEntry, config: MeterConfig | None) -> None:
        """Sets an entry's direct meter, as `configure_meter` does for a cell."""

    def read_registers(self, name: str, first: int, count: int) -> list[str]:
        """The values of `count` register cells."""

    def write_register(self, name: str, index: int, value: str) -> None:
        """Sets a cell."""

    def set_clone_session(self, session: CloneSession) -> None:
        """Sets a clone session: `id`, `replicas` (each `port`, `rid`; none removes it),
        `truncate_bytes` or None.
        """

    def set_multicast_group(self, group: int, replicas: list[Replica]) -> None:
        """Sets a multicast group's replicas; none removes it."""

    def set_value_set(self, name: str, members: list[list[Match | None]]) -> None:
        """All members of a parser value set, each with a match for every part of the key, as an
        entry has them; None is any value.
        """

    def write_profile(
        self,
        operation: Literal["insert", "modify", "delete"],
        kind: Literal["member", "group"],
        given: ProfileMember | ProfileGroup | ProfileKey,
    ) -> None:
        """Writes a member or group of an action profile: `profile`, `id`, and the member's `action`
        and `params` or the group's `members` (each a number and weight). Entries refer to one by
        the action `$member` or `$group` and the parameter `id`.
        """

    def set_idle_timeout(self, entry: TableEntry, timeout_ns: int | None) -> None:
        """Sets an entry's idle time-out; None disables it."""

    def idle_ns(self, entry: TableEntry) -> tuple[int | None, int]:
        """An entry's idle time-out, and the time since its last hit."""

    def take_expired(self) -> list[TableEntry]:
        """Entries that exceeded their idle time-out, each returned once."""

    def take_digests(self) -> list[tuple[str, list[str]]]:
        """The oldest digests that wait, a few thousand at most: the list's name and the fields'
        values.
        """

    def take_packet_ins(self) -> list[bytes]:
        """The oldest packets that were sent to the CPU port and wait, a few thousand at most."""

    def packet_out(self, packet: bytes) -> None:
        """Injects a packet from the CPU port."""


def pages(target: Target, table: str) -> Iterator[list[tuple[TableEntry, int, int]]]:
    """A table's entries with their packets and bytes, part by part. An entry that stays while the
    parts are read is in exactly one of them.
    """
    first: int | None = 0
    while first is not None:
        part, first = target.entries_from(table, first)
        yield part


def entries(target: Target, table: str) -> Iterator[tuple[TableEntry, int, int]]:
    """A table's entries with their packets and bytes."""
    for part in pages(target, table):
        yield from part
