"""Reads and writes a switch's state over BfRuntime, with the methods of `SwitchClient`.

A state uses the names of p4/v1model.p4, which p4/tna.p4 shares. They map to BfRuntime so:

- a table, counter or register NAME is `pipe.NAME`, the pipeline of p4/tna.p4;
- in BfRuntime the lowest priority number wins, in P4Runtime the highest;
- a queue depth in packets becomes a depth in cells (`DEPTHS`);
- a clone session is a mirror session, truncated to the bytes that a report includes;
- registers that count in v1model are counters in TNA; each pipe has its own, and a port uses the
  cell of one pipe.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from narrows.controller.bfrt import bfruntime_pb2 as pb
from narrows.controller.bfrt.client import (
    DELETE,
    INSERT,
    INSERT_OR_MODIFY,
    MODIFY,
    BfrtClient,
    BfrtError,
    Change,
    Row,
)
from narrows.controller.bfrt.schema import PRIORITY, Table, Value
from narrows.controller.matches import Exact, Match
from narrows.controller.objects import CloneSession, Count, RegisterCell, Replica
from narrows.controller.state import SwitchState, TableEntry

if TYPE_CHECKING:
    from narrows.schema.plan import EntryOperation

PIPE = "pipe."
MOST_PRIORITY = 2**24 - 1
"""This P4Runtime priority maps to 0 in BfRuntime, as in Stratum."""
MIRRORS = "$mirror.cfg"
MIRROR_BYTES = 32 + 14 + 40
"""`mirror_t` of p4/tna.p4, Ethernet, and a report's REPORT_INNER_BYTES."""
DEPTHS = {("NarrowsEgress.mark_ecn.mark_above", "ecn_threshold")}
"""Action parameters that are queue depths."""
OPERATIONS: dict[EntryOperation, pb.Update.Type] = {
    "insert": INSERT,
    "modify": MODIFY,
    "delete": DELETE,
}
PARTS = ("entries", "clone_sessions", "registers")
"""Parts of a state that p4/tna.p4 supports."""


class BfrtSwitch:
    """A Tofino that runs p4/tna.p4. Depths in packets assume `packet_bytes` bytes each. The client
    must be open. Methods raise `BfrtError`.
    """

    is_primary = True

    def __init__(self, client: BfrtClient, packet_bytes: int) -> None:
        self.client, self.address = client, client.address
        self.cells_per_packet = client.device.cells(packet_bytes)

    # Writing.

    async def write(self, state: SwitchState) -> None:
        """Inserts a state into a switch that has none of it."""
        self._check(state)
        changes = [self._session(INSERT, one) for one in state.clone_sessions]
        changes += [self._change(INSERT, one) for one in state.entries]
        changes += [self._cell(one) for one in state.registers]
        await self.client.write(changes)

    async def make(self, state: SwitchState) -> int:
        """Replaces the entries and sessions on the switch with the state's. Registers that the
        state does not name stay. Returns the number of writes; 0 if nothing differed.
        """
        self._check(state)
        have = await self.read_state(registers=())
        gone, new = list[Change](), list[Change]()
        for part, change in (("clone_sessions", self._session), ("entries", self._change)):
            want = {one.key: one for one in getattr(state, part)}
            here = {one.key: one for one in getattr(have, part)}
            gone += [change(DELETE, one) for key, one in here.items() if key not in want]
            for key, one in want.items():
                if key not in here:
                    new.append(change(INSERT, one))
                elif str(here[key]) != str(one):
                    new.append(change(MODIFY, one))
        for cell in state.registers:
            if await self.read_register(cell.register, cell.index) != cell.value:
                new.append(self._cell(cell))
        await self.client.write(gone + new)
        return len(gone) + len(new)

    async def write_entry(self, entry: TableEntry, operation: EntryOperation = "insert") -> None:
        """Writes one table entry."""
        await self.client.write([self._change(OPERATIONS[operation], entry)])

    def _check(self, state: SwitchState) -> None:
        for part, content in vars(state).items():
            if content and part not in PARTS:
                raise BfrtError(f"{self.address}: {part}: not supported by p4/tna.p4")

    def _change(self, kind: pb.Update.Type, entry: TableEntry) -> Change:
        table = self._table(entry.table)
        key = dict[str, Match](entry.matches)
        if PRIORITY in table.key:
            key[PRIORITY] = Exact(MOST_PRIORITY - entry.priority)
        if kind == DELETE:
            return Change(kind, table.name, key)
        data = {
            name: value * self._unit(entry.action, name) for name, value in entry.params.items()
        }
        return Change(kind, table.name, key, data, entry.action)

    def _session(self, kind: pb.Update.Type, session: CloneSession) -> Change:
        key = {"$sid": session.id}
        if kind == DELETE:
            return Change(kind, MIRRORS, key)
        match session.replicas:
            case (Replica(port=port, instance=0),):
                data: dict[str, Value] = {
                    "$session_enable": True,
                    "$direction": "EGRESS",
                    "$ucast_egress_port": port,
                    "$ucast_egress_port_valid": True,
                    "$max_pkt_len": session.truncate_bytes or MIRROR_BYTES,
                }
                return Change(kind, MIRRORS, key, data, "$normal")
        raise BfrtError(f"{self.address}: {session}: expected one port, instance 0")

    def _cell(self, cell: RegisterCell) -> Change:
        table = self._table(cell.register)
        data = {name: part(name, cell.value) for name in table.data}
        return Change(INSERT_OR_MODIFY, table.name, {index_of(table): cell.index}, data)

    def _table(self, name: str) -> Table:
        try:
            return self.client.schema.table(PIPE + name)
        except ValueError as error:
            raise BfrtError(f"{self.address}: {error}") from None

    def _unit(self, action: str, param: str) -> int:
        return self.cells_per_packet if (action, param) in DEPTHS else 1

    # Reading.

    async def read_state(self, registers: Iterable[str] | None = None) -> SwitchState:
        """Reads the state that controllers wrote: entries of tables that are not constant, enabled
        mirror sessions, and non-zero cells of the named registers (None: of all registers).
        """
        entries = list[TableEntry]()
        for table in self.client.schema.tables.values():
            if table.is_match_action and not table.is_constant:
                entries += [self._entry(table, row) async for row in self.client.rows(table.name)]
        names = self._registers() if registers is None else registers
        cells = [
            RegisterCell(name, index, value)
            for name in names
            for index, value in (await self.read_registers(name)).items()
            if value
        ]
        sessions = [
            session(row) async for row in self.client.rows(MIRRORS) if row.one("$session_enable")
        ]
        return SwitchState(tuple(entries), tuple(sessions), tuple(cells))

    def _registers(self) -> Iterator[str]:
        for table in self.client.schema.tables.values():
            if table.type == "Register":
                yield table.name.removeprefix(PIPE)

    def _entry(self, table: Table, row: Row) -> TableEntry:
        matches = dict(row.key)
        number = matches.pop(PRIORITY, None)
        priority = MOST_PRIORITY - number.value if isinstance(number, Exact) else 0
        action = row.action or ""
        # The table's other fields are counters.
        params = {
            name: row.number(name) // self._unit(action, name)
            for name in table.actions[action].data
        }
        return TableEntry(table.name.removeprefix(PIPE), matches, action, params, priority)

    async def read_register(self, name: str, index: int) -> int:
        """Reads a register cell, or the packets of a counter cell."""
        table = self._table(name)
        return cell_value(table, await self.client.row(table.name, {index_of(table): index}))

    async def read_registers(self, name: str) -> dict[int, int]:
        """Reads all cells of a register, or the packets of all cells of a counter."""
        table = self._table(name)
        return {index(row): cell_value(table, row) async for row in self.client.rows(table.name)}

    async def read_counters(self, name: str, at: int | None = None) -> dict[int, Count]:
        """Reads all cells of a counter, or one."""
        table = self._table(name)
        key = None if at is None else {index_of(table): at}
        return {index(row): counted(row) async for row in self.client.rows(table.name, key)}

    async def read_entry_counts(self, table: str) -> dict[str, Count]:
        """Reads a table's direct counters, keyed by the entries' lines."""
        found = self._table(table)
        return {
            str(self._entry(found, row)): counted(row) async for row in self.client.rows(found.name)
        }


def session(row: Row) -> CloneSession:
    """Decodes a mirror session."""
    cut = row.number("$max_pkt_len")
    replicas = (Replica(row.number("$ucast_egress_port")),)
    return CloneSession(number(row.key, "$sid"), replicas, None if cut == MIRROR_BYTES else cut)


def counted(row: Row) -> Count:
    """A counter cell, summed over all pipes."""
    octets, packets = (sum(row.numbers(f"$COUNTER_SPEC_{unit}")) for unit in ("BYTES", "PKTS"))
    return Count(packets, octets)


def cell_value(table: Table, row: Row) -> int:
    """A register cell, from the pipe that uses it (the others are zero), or a counter's packets.
    Two 32-bit halves form one number.
    """
    if table.type == "Counter":
        return counted(row).packets
    halves = {name.rpartition(".")[2]: row.numbers(name) for name in row.data}
    if halves.keys() == {"low", "high"}:
        pipes = zip(halves["low"], halves["high"], strict=True)
        return max(high << 32 | low for low, high in pipes)
    [values] = halves.values()
    return max(values)


def part(name: str, value: int) -> int:
    """The part of a cell's value that a register field holds."""
    return {"low": value & 0xFFFFFFFF, "high": value >> 32}.get(name.rpartition(".")[2], value)


def index_of(table: Table) -> str:
    """The name of the only field of a register's or counter's key."""
    [name] = table.key
    return name


def index(row: Row) -> int:
    """The key of a register or counter cell."""
    return number(row.key, *row.key)


def number(key: Mapping[str, Match], name: str) -> int:
    """Returns the value of an exact match."""
    match = key[name]
    assert isinstance(match, Exact)
    return match.value
