"""What a server asks of a switch. `narrows._engine.Switch` is one; names are the P4 program's.

Values are text, hexadecimal after 0x. A table entry is a dict as `narrows_switch::TableEntry`
reads it: `table`, `matches` (field name to `{"exact": v}`, `{"lpm": [v, bits]}`,
`{"ternary": [v, mask]}`, `{"range": [from, to]}`; a field left out matches anything), `priority`,
`action`, `params`. Every method may raise `TargetError`.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

Kind = Literal[
    "not-found",
    "already-exists",
    "invalid-argument",
    "out-of-range",
    "resource-exhausted",
    "permission-denied",
    "failed-precondition",
    "unimplemented",
]
Entry = dict[str, Any]
"""A `narrows.schema.switch.TableEntry` whose matches may be tuples."""


class TargetError(Exception):
    """Why a switch refused: a kind, and a message that names the object."""

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(kind, message)
        self.kind: Kind = kind
        self.message = message

    def __str__(self) -> str:
        return self.message


def invalid(message: str) -> TargetError:
    """An argument that does not fit."""
    return TargetError("invalid-argument", message)


class Target(Protocol):
    """A switch under control. Methods may be called from any thread."""

    def check(self, program_json: str) -> None:
        """Raises when the switch can't run this bmv2 JSON."""

    def load(self, program_json: str) -> None:
        """Runs this bmv2 JSON from now on, with empty tables; ports keep rate, limit and counts.
        Packets that wait are lost, and counted as dropped at egress.
        """

    def pause(self) -> None:
        """Holds packets back until as many calls of `resume`."""

    def resume(self) -> None:
        """Ends a `pause`."""

    def now_ps(self) -> int:
        """The switch's clock: when it last did something."""

    def statistics(self) -> dict[str, int]:
        """What it has done, ports aside: `received`, `parser_errors`, `checksum_errors`,
        `dropped_ingress`, `dropped_egress`, `no_such_port`, `no_such_group`, `aborted`,
        `endless`, `no_program`.
        """

    def ports(self) -> list[int]:
        """Its ports' numbers, ascending."""

    def port_state(self, port: int) -> dict[str, Any]:
        """`port`, `rate_bps` (None: no limit), `queue` (`{"packets": n}`, `{"bytes": n}` or
        `{"time_ps": n}`), `discipline` (`name`, `parameters` in base units), `counts`,
        `enqueued`, `dequeued`, `drops` (packets by reason), `transmitted`,
        `transmitted_bytes`, `received`, `received_bytes`, `waiting_packets`,
        `waiting_bytes`, `depth_max_packets`, `depth_max_bytes`, and the
        means over the switch's time so far, `depth_mean_packets` and `depth_mean_bytes`.
        """

    def set_rate(self, port: int, rate_bps: int) -> None:
        """Sets a port's rate from now on."""

    def set_queue_limit(self, port: int, limit: dict[str, int]) -> None:
        """Sets a queue's limit, as `port_state` has it."""

    def set_discipline(self, port: int, discipline: dict[str, Any]) -> None:
        """Sets a port's queue discipline, as `port_state` has it; absent parameters take their
        defaults. Packets that wait stay.
        """

    def disciplines(self) -> list[dict[str, Any]]:
        """The records of the disciplines: `name`, `title`, `parameters` and more."""

    def drop_reasons(self) -> list[dict[str, str]]:
        """Why ports drop packets: `name`, `meaning`."""

    def insert_entry(self, entry: Entry) -> None:
        """Adds an entry."""

    def modify_entry(self, entry: Entry) -> None:
        """Gives the entry with these matches and priority another action."""

    def delete_entry(self, entry: Entry) -> None:
        """Removes the entry with these matches and priority."""

    def entry(self, entry: Entry) -> tuple[Entry, int, int] | None:
        """The entry with these matches and priority, with its packets and bytes."""

    def entries(self, table: str) -> list[tuple[Entry, int, int]]:
        """A table's entries with their packets and bytes (0 without a direct counter)."""

    def set_entry_count(self, entry: Entry, packets: int, octets: int) -> None:
        """Sets an entry's direct counter."""

    def default_count(self, table: str) -> tuple[int, int]:
        """Packets and bytes that ran the default action of a table with a direct counter."""

    def set_default_count(self, table: str, packets: int, octets: int) -> None:
        """Sets them."""

    def default_action(self, table: str) -> dict[str, Any] | None:
        """`action` and `params` of a table's default, if it has one."""

    def set_default_action(self, default: dict[str, Any]) -> None:
        """Sets a table's default: `table`, `action`, `params`."""

    def reset_default_action(self, table: str) -> None:
        """Makes a table's default what the program says."""

    def read_counters(self, name: str, first: int, count: int) -> list[tuple[int, int]]:
        """Packets and bytes of `count` cells."""

    def write_counter(self, name: str, index: int, packets: int, octets: int) -> None:
        """Sets a cell."""

    def configure_meter(self, name: str, index: int, config: dict[str, int] | None) -> None:
        """Sets `cir`, `cburst`, `pir`, `pburst` of a cell, or `cir`, `cburst`, `eburst` for a
        single rate; None makes it green for ever.
        """

    def configure_entry_meter(self, entry: Entry, config: dict[str, int] | None) -> None:
        """The same for an entry's direct meter."""

    def read_registers(self, name: str, first: int, count: int) -> list[str]:
        """The values of `count` cells."""

    def write_register(self, name: str, index: int, value: str) -> None:
        """Sets a cell."""

    def set_clone_session(self, session: dict[str, Any]) -> None:
        """`id`, `replicas` (each `port`, `rid`; none removes it), `truncate_bytes` or None."""

    def set_multicast_group(self, group: int, replicas: list[dict[str, int]]) -> None:
        """Where copies go; none removes it."""

    def set_value_set(self, name: str, members: list[list[dict[str, Any] | None]]) -> None:
        """All members of a parser value set, each with a match for every part of the key, as an
        entry has them; None is any value.
        """

    def write_profile(
        self,
        operation: Literal["insert", "modify", "delete"],
        kind: Literal["member", "group"],
        given: dict[str, Any],
    ) -> None:
        """Writes to an action profile: `profile`, `id`, and a member's `action` and `params` or
        a group's `members` (number and weight each). An entry that names one has the action
        `$member` or `$group` with the parameter `id`.
        """

    def set_idle_timeout(self, entry: Entry, timeout_ns: int | None) -> None:
        """How long an entry may go without a hit; None: for ever."""

    def idle_ns(self, entry: Entry) -> tuple[int | None, int]:
        """An entry's idle time-out, and how long ago it was hit."""

    def take_expired(self) -> list[Entry]:
        """Entries that went without a hit for longer than they may, each told once."""

    def take_digests(self) -> list[tuple[str, list[str]]]:
        """Digests since the last call: the list's name and the fields' values."""

    def take_packet_ins(self) -> list[bytes]:
        """Packets that left by the CPU port since the last call."""

    def packet_out(self, packet: bytes) -> None:
        """A packet comes in by the CPU port."""
