"""A switch over P4Runtime: its pipeline, its state, its counters and registers, by finsy.

    async with SwitchClient("127.0.0.1:9559", p4info=..., program=...) as client:
        await client.make(state)
        assert (await client.read_state()).lines() >= state.lines()

Names are those of the P4Info, in full. With `p4info` and `program` a primary client pushes the
pipeline unless it runs already; without them it takes the P4Info that the switch has.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import finsy as fy
from finsy.gnmiclient import GNMIClientError
from finsy.p4schema import P4MatchType

from controller.state import (
    CloneSession,
    Exact,
    Lpm,
    Match,
    Range,
    RegisterCell,
    SwitchState,
    TableEntry,
    Ternary,
)

BATCH = 500
"""Updates in a request: finsy waits 10 s for its answer."""

Operation = Literal["insert", "modify", "delete"]


class ControllerError(Exception):
    """What a switch refused, or that it can't be reached."""


@dataclass(frozen=True)
class Count:
    """A counter's value."""

    packets: int
    octets: int


class SwitchClient:
    """One P4Runtime connection, primary unless a higher election id is there.

    Methods raise `ControllerError` with the switch's own words.
    """

    def __init__(
        self,
        address: str,
        *,
        p4info: Path | None = None,
        program: Path | None = None,
        device_id: int = 0,
        election_id: int = 10,
        force: bool = False,
        credentials: fy.GRPCCredentialsTLS | None = None,
    ) -> None:
        self.address = address
        self.switch = fy.Switch(
            address,
            address,
            fy.SwitchOptions(
                p4info=p4info,
                p4blob=program,
                p4force=force,
                device_id=device_id,
                initial_election_id=election_id,
                channel_credentials=credentials,
            ),
        )

    async def __aenter__(self) -> Self:
        # It logs what it raises, with a traceback.
        logging.getLogger("finsy").setLevel(logging.CRITICAL + 1)
        with explained(self.address):
            await self.switch.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.switch.__aexit__(kind, error, trace)

    @property
    def is_primary(self) -> bool:
        """Whether it may write."""
        return self.switch.is_primary

    @property
    def gnmi(self) -> fy.GNMIClient | None:
        """gNMI on the same connection, where the switch has it."""
        return self.switch.gnmi_client

    # Writing.

    async def write(self, state: SwitchState) -> None:
        """Inserts all of a state into a switch that has none of it."""
        await self._send(
            [
                *(+self._entry(entry) for entry in state.entries),
                *(+session_entity(session) for session in state.clone_sessions),
                *(~cell_entity(cell) for cell in state.registers),
            ]
        )

    async def make(self, state: SwitchState) -> int:
        """Makes the switch have these entries and sessions and no others, and these values in
        these registers. Returns the number of writes: 0 when it had them.
        """
        have = await self.read_state(registers=())
        updates = list[Any]()
        want = {entry.key: entry for entry in state.entries}
        here = {entry.key: entry for entry in have.entries}
        updates += [-self._entry(entry) for key, entry in here.items() if key not in want]
        for key, entry in want.items():
            if key not in here:
                updates.append(+self._entry(entry))
            elif str(here[key]) != str(entry):
                updates.append(~self._entry(entry))
        wanted = {session.id: session for session in state.clone_sessions}
        sessions = {session.id: session for session in have.clone_sessions}
        updates += [
            -session_entity(one) for number, one in sessions.items() if number not in wanted
        ]
        for number, session in wanted.items():
            if number not in sessions:
                updates.append(+session_entity(session))
            elif sessions[number] != session:
                updates.append(~session_entity(session))
        for cell in state.registers:
            if await self.read_register(cell.register, cell.index) != cell.value:
                updates.append(~cell_entity(cell))
        await self._send(updates)
        return len(updates)

    async def write_entry(self, entry: TableEntry, operation: Operation = "insert") -> None:
        """Writes one table entry."""
        entity = self._entry(entry)
        match operation:
            case "insert":
                await self._send([+entity])
            case "modify":
                await self._send([~entity])
            case "delete":
                await self._send([-entity])

    async def write_register(self, cell: RegisterCell) -> None:
        """Sets a register's cell."""
        await self._send([~cell_entity(cell)])

    async def _send(self, updates: Sequence[Any]) -> None:
        if updates and not self.is_primary:
            raise ControllerError(
                f"{self.address}: another controller is primary, with election id "
                f"{self.switch.primary_id}; ours is {self.switch.election_id}"
            )
        for first in range(0, len(updates), BATCH):
            with explained(self.address):
                await self.switch.write(updates[first : first + BATCH])

    def _entry(self, entry: TableEntry) -> fy.P4TableEntry:
        return fy.P4TableEntry(
            entry.table,
            match=fy.Match({name: plain(match) for name, match in entry.matches.items()}),
            action=fy.Action(entry.action, **entry.params),
            priority=entry.priority,
        )

    # Reading.

    async def read_state(self, registers: Iterable[str] | None = None) -> SwitchState:
        """What a controller has put on the switch: entries of tables that are not constant,
        clone sessions, and the cells that are not zero of the named registers (None: of all).
        """
        schema = self.switch.p4info
        entries = list[TableEntry]()
        if any(not table.is_const for table in schema.tables):
            async for entry in self._read(fy.P4TableEntry()):
                if not schema.tables[entry.table_id].is_const and not entry.is_const:
                    entries.append(self._entry_read(entry))
        sessions = [
            CloneSession(
                one.session_id,
                tuple(getattr(port, "port", port) for port in one.replicas),
                one.packet_length_bytes or None,
            )
            async for one in self._read(fy.P4CloneSessionEntry())
        ]
        names = [one.name for one in schema.registers] if registers is None else registers
        cells = [
            RegisterCell(name, index, value)
            for name in names
            for index, value in (await self.read_registers(name)).items()
            if value
        ]
        return SwitchState(tuple(entries), tuple(sessions), tuple(cells))

    def _entry_read(self, entry: fy.P4TableEntry) -> TableEntry:
        table = self.switch.p4info.tables[entry.table_id]
        matches = dict[str, Match]()
        given: dict[str, Any] = entry.match or {}
        for field in table.match_fields:
            match = field_match(field, given.get(field.alias))
            if match is not None:
                matches[field.name] = match
        action = entry.action
        if not isinstance(action, fy.P4TableAction):
            return TableEntry(table.name, matches, str(action), {}, entry.priority)
        params = {name: int(value) for name, value in action.args.items()}
        full = self.switch.p4info.actions[action.name].name
        return TableEntry(table.name, matches, full, params, entry.priority)

    async def read_register(self, name: str, index: int) -> int:
        """A register's cell."""
        async for one in self._read(fy.P4RegisterEntry(name, index=index)):
            return int(one.data)
        raise ControllerError(f"{self.address}: register {name}[{index}]: no value came back")

    async def read_registers(self, name: str) -> dict[int, int]:
        """All cells of a register."""
        return {one.index: int(one.data) async for one in self._read(fy.P4RegisterEntry(name))}

    async def read_counters(self, name: str, index: int | None = None) -> dict[int, Count]:
        """The cells of a counter, or one of them."""
        return {
            one.index: Count(one.packet_count, one.byte_count)
            async for one in self._read(fy.P4CounterEntry(name, index=index))
        }

    async def read_entry_counts(self, table: str) -> dict[str, Count]:
        """The direct counters of a table's entries, by the entries' lines."""
        found = dict[str, Count]()
        async for one in self._read(fy.P4TableEntry(table, counter_data=fy.P4CounterData())):
            if one.counter_data is not None:
                data = one.counter_data
                found[str(self._entry_read(one))] = Count(data.packet_count, data.byte_count)
        return found

    async def _read(self, entity: Any) -> AsyncIterator[Any]:
        with explained(self.address):
            read: AsyncIterator[Any] = self.switch.read(entity)  # type: ignore[assignment]
            async for one in read:
                yield one


class explained:  # noqa: N801 (a statement)
    """Turns finsy's errors into `ControllerError`, one line for each refused update."""

    def __init__(self, address: str) -> None:
        self.address = address

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: Any
    ) -> None:
        if isinstance(error, fy.P4ClientError | GNMIClientError):
            raise ControllerError(f"{self.address}: {words(error)}") from None
        if isinstance(error, ValueError):
            # finsy: a name or a value that the P4Info does not have.
            raise ControllerError(f"{self.address}: {error}") from None


def words(error: fy.P4ClientError | GNMIClientError) -> str:
    """What the switch said."""
    details = getattr(error, "details", {})
    if not details:
        return f"{error.code.name}: {error.message}"
    said = (f"update {n}: {one.canonical_code.name}: {one.message}" for n, one in details.items())
    return "\n".join(said)


def plain(match: Match) -> Any:
    """A match as finsy takes it."""
    match match:
        case Exact():
            return match.value
        case Lpm():
            return (match.value, match.prefix_bits)
        case Ternary():
            return (match.value, match.mask)
        case Range():
            return (match.low, match.high)


def field_match(field: Any, value: Any) -> Match | None:
    """A match as it was read. P4Runtime leaves one out that matches anything, other than
    a field of kind optional it is here nonetheless.
    """
    match field.match_type:
        case P4MatchType.LPM:
            prefix: tuple[Any, int] = (0, 0) if value is None else pair(value)
            return Lpm(int(prefix[0]), int(prefix[1]))
        case P4MatchType.TERNARY:
            masked = (0, 0) if value is None else pair(value)
            return Ternary(int(masked[0]), int(masked[1]))
        case P4MatchType.RANGE:
            limits = (0, 2**field.bitwidth - 1) if value is None else pair(value)
            return Range(int(limits[0]), int(limits[1]))
    return None if value is None else Exact(int(value))


def pair(value: Any) -> tuple[Any, Any]:
    """The two parts of a match; a P4Info may ask for addresses in place of numbers."""
    if hasattr(value, "network_address"):
        return int(value.network_address), value.prefixlen
    first, second = value
    return first, second


def session_entity(session: CloneSession) -> fy.P4CloneSessionEntry:
    """A session as finsy has it."""
    return fy.P4CloneSessionEntry(
        session.id,
        replicas=session.ports,
        packet_length_bytes=session.truncate_bytes or 0,
    )


def cell_entity(cell: RegisterCell) -> fy.P4RegisterEntry:
    """A register's cell as finsy has it."""
    return fy.P4RegisterEntry(cell.register, index=cell.index, data=cell.value)


def lines(state: SwitchState) -> Iterator[str]:
    """The state as text, sorted."""
    yield from sorted(state.lines())
