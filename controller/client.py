"""Controls a switch over P4Runtime with finsy: pipeline, state, counters and registers.

    async with SwitchClient("127.0.0.1:9559", p4info=..., program=...) as client:
        await client.make(state)
        assert (await client.read_state()).lines() >= state.lines()

Names are the full names in the P4Info. With `p4info` and `program`, a primary client pushes the
pipeline unless it already runs. Without them it uses the P4Info on the switch.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeAlias, TypeVar

import finsy as fy
from finsy import p4client
from finsy.gnmiclient import GNMIClientError
from finsy.p4entity import P4Entity

from narrows.controller.entities import (
    INSERTED,
    MODIFIED,
    Inserted,
    Modified,
    cell_entity,
    entry_entity,
    entry_read,
    group_read,
    member_read,
    meter_read,
    multicast_read,
    session_read,
    value_set_read,
)
from narrows.controller.errors import ControllerError, LateError, listed
from narrows.controller.objects import (
    Count,
    MeterCell,
    ProfileGroup,
    ProfileMember,
    RegisterCell,
    ValueSet,
)
from narrows.controller.state import SwitchState, TableEntry

if TYPE_CHECKING:
    from narrows.schema.plan import EntryOperation

T = TypeVar("T")
E = TypeVar("E", bound=P4Entity)
Update: TypeAlias = Inserted | Modified
BATCH = 500
"""Maximum updates per request, since finsy waits 10 s for the answer."""
FINSY_TIMEOUT_S = p4client._DEFAULT_RPC_TIMEOUT
READ_TIMEOUT_S = 600.0
"""Time for all parts of a read, which may have a million cells."""


class SwitchClient:
    """One P4Runtime connection; primary unless another controller has a higher election id.

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
        with explained(self.address), Failures(self.address) as failures:
            try:
                await self.switch.__aenter__()
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
                raise failures.first from None
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
        """True if this client may write."""
        return self.switch.is_primary

    @property
    def gnmi(self) -> fy.GNMIClient | None:
        """gNMI on the same connection, if the switch serves it."""
        return self.switch.gnmi_client

    # Writing.

    async def write(self, state: SwitchState) -> None:
        """Inserts all of a state into a switch that has none of it."""
        updates = list[Update]()
        for inserted in INSERTED.values():
            updates += [+one.entity() for one in inserted(state)]
        for modified in MODIFIED.values():
            updates += [~one.entity() for one in modified(state)]
        await self._send(updates)

    async def send(self, updates: Sequence[Update]) -> None:
        """Sends finsy's updates, in this order."""
        await self._send(updates)

    async def make(self, state: SwitchState) -> int:
        """Replaces the entries, sessions, groups and members on the switch with the state's. Value
        sets, meters and registers that the state does not name stay. Returns the number of writes;
        0 if nothing differed.
        """
        have = await self.read_state(registers=())
        gone, new, unnamed = list[Update](), list[Update](), list[Update]()
        for part, inserted in INSERTED.items():
            want = {one.key: one for one in inserted(state)}
            here = {one.key: one for one in inserted(have)}
            left = [-one.entity() for key, one in here.items() if key not in want]
            if part in ("profile_members", "profile_groups"):
                # Delete last: entries and groups may refer to these until they have changed.
                unnamed = [*left, *unnamed]
            else:
                gone += left
            for key, one in want.items():
                if key not in here:
                    new.append(+one.entity())
                elif here[key].line != one.line:
                    new.append(~one.entity())
        for part, modified in MODIFIED.items():
            lines = {one.key: one.line for one in modified(have)}
            if part == "registers":
                lines = {cell.key: await self._register_line(cell) for cell in state.registers}
            changed = (one for one in modified(state) if lines.get(one.key) != one.line)
            new += [~one.entity() for one in changed]
        updates = gone + new + unnamed
        await self._send(updates)
        return len(updates)

    async def _register_line(self, cell: RegisterCell) -> str:
        value = await self.read_register(cell.register, cell.index)
        return str(RegisterCell(cell.register, cell.index, value))

    async def write_entry(self, entry: TableEntry, operation: EntryOperation = "insert") -> None:
        """Writes one table entry."""
        entity = entry_entity(entry)
        match operation:
            case "insert":
                await self._send([+entity])
            case "modify":
                await self._send([~entity])
            case "delete":
                await self._send([-entity])

    async def write_register(self, cell: RegisterCell) -> None:
        """Sets a register cell."""
        await self._send([~cell_entity(cell)])

    async def _send(self, updates: Sequence[Update]) -> None:
        if updates and not self.is_primary:
            raise ControllerError(
                f"{self.address}: another controller is primary, with election id "
                f"{self.switch.primary_id}; ours is {self.switch.election_id}"
            )
        for first in range(0, len(updates), BATCH):
            with explained(self.address):
                await self.switch.write(updates[first : first + BATCH])

    # Reading.

    async def read_state(self, registers: Iterable[str] | None = None) -> SwitchState:
        """Reads the state that controllers wrote. It has the entries of tables that are not
        constant, sessions, groups, members, meters with rates, value sets with members, and
        non-zero cells of the named registers (None: of all). One-shot action sets and direct meters
        are omitted.
        """
        schema = self.switch.p4info
        entries = list[TableEntry]()
        if any(not table.is_const for table in schema.tables):
            async for entry in self._read(fy.P4TableEntry()):
                if not schema.tables[entry.table_id].is_const and not entry.is_const:
                    entries.append(entry_read(schema, entry))
        names = [one.name for one in schema.registers] if registers is None else registers
        cells = [
            RegisterCell(name, index, value)
            for name in names
            for index, value in (await self.read_registers(name)).items()
            if value
        ]
        members, groups = list[ProfileMember](), list[ProfileGroup]()
        if list(schema.action_profiles):
            members = await self._all(fy.P4ActionProfileMember(), member_read)
            groups = await self._all(fy.P4ActionProfileGroup(), group_read)
        value_sets = list[ValueSet]()
        for value_set in schema.value_sets:
            asked = fy.P4ValueSetEntry(value_set.name, members=[])
            value_sets += await self._all(asked, value_set_read)
        meters = list[MeterCell]()
        if list(schema.meters):
            meters = await self._all(fy.P4MeterEntry(), meter_read)
        return SwitchState(
            entries=tuple(entries),
            clone_sessions=tuple(await self._all(fy.P4CloneSessionEntry(), session_read)),
            registers=tuple(cells),
            multicast_groups=tuple(await self._all(fy.P4MulticastGroupEntry(), multicast_read)),
            profile_members=tuple(members),
            profile_groups=tuple(groups),
            meters=tuple(meters),
            value_sets=tuple(value_sets),
        )

    async def _all(self, entity: E, read: Callable[[fy.P4Schema, E], T | None]) -> list[T]:
        """Reads all entities of one kind."""
        schema = self.switch.p4info
        found = [read(schema, one) async for one in self._read(entity)]
        return [one for one in found if one is not None]

    async def read_register(self, name: str, index: int) -> int:
        """Reads a register cell."""
        async for one in self._read(fy.P4RegisterEntry(name, index=index)):
            if one.data is not None:
                return int(one.data)
        raise ControllerError(
            f"{self.address}: register {name}[{index}]: the switch returned no value"
        )

    async def read_registers(self, name: str) -> dict[int, int]:
        """Reads all cells of a register."""
        return {
            one.index: int(one.data)
            async for one in self._read(fy.P4RegisterEntry(name))
            if one.index is not None and one.data is not None
        }

    async def read_counters(self, name: str, index: int | None = None) -> dict[int, Count]:
        """Reads all cells of a counter, or one."""
        return {
            one.index: Count(one.packet_count, one.byte_count)
            async for one in self._read(fy.P4CounterEntry(name, index=index))
            if one.index is not None
        }

    async def read_entry_counts(self, table: str) -> dict[str, Count]:
        """Reads a table's direct counters, keyed by the entries' lines."""
        found = dict[str, Count]()
        async for one in self._read(fy.P4TableEntry(table, counter_data=fy.P4CounterData())):
            if one.counter_data is not None:
                line = str(entry_read(self.switch.p4info, one))
                found[line] = Count(one.counter_data.packet_count, one.counter_data.byte_count)
        return found

    async def _read(self, entity: E) -> AsyncIterator[E]:
        read: AsyncIterator[E] = self.switch.read(entity)  # type: ignore[assignment]
        with explained(self.address):
            with patient():
                first = await anext(read, None)
            if first is not None:
                yield first
            async for one in read:
                yield one


@contextmanager
def patient() -> Iterator[None]:
    """Begins a read with `READ_TIMEOUT_S`; finsy takes one timeout for all calls, as they begin."""
    p4client._DEFAULT_RPC_TIMEOUT = READ_TIMEOUT_S
    try:
        yield
    finally:
        p4client._DEFAULT_RPC_TIMEOUT = FINSY_TIMEOUT_S


class Failures(logging.Filter):
    """Collects the error that ended a switch's tasks; finsy only logs it and cancels the others.

    Nothing is printed, since finsy logs a traceback for errors that it also raises.
    """

    def __init__(self, address: str) -> None:
        super().__init__()
        self.task = f"fy:{address}|"
        self.first: BaseException = ControllerError(f"{address}: the connection was lost")

    def __enter__(self) -> Self:
        log = logging.getLogger("finsy")
        log.setLevel(logging.CRITICAL)
        log.addFilter(self)
        return self

    def __exit__(self, *_: object) -> None:
        log = logging.getLogger("finsy")
        log.setLevel(logging.CRITICAL + 1)
        log.removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Keeps the first error of this switch."""
        error = record.exc_info[1] if record.exc_info else None
        own = isinstance(record.args, tuple) and str(record.args[0]).startswith(self.task)
        if error is not None and own and isinstance(self.first, ControllerError):
            self.first = error
        return False


@contextmanager
def explained(address: str) -> Iterator[None]:
    """Converts finsy's errors to `ControllerError`; names the first refused updates."""
    try:
        yield
    except (fy.P4ClientError, GNMIClientError) as error:
        late = error.code == fy.GRPCStatusCode.DEADLINE_EXCEEDED
        kind = LateError if late else ControllerError
        raise kind(f"{address}: {words(error)}") from None
    except ValueError as error:
        # finsy raises this for a name or value that is not in the P4Info.
        raise ControllerError(f"{address}: {error}") from None


def words(error: fy.P4ClientError | GNMIClientError) -> str:
    """The switch's error text."""
    details = getattr(error, "details", {})
    if not details:
        return f"{error.code.name}: {error.message}"
    said = [f"update {n}: {one.canonical_code.name}: {one.message}" for n, one in details.items()]
    return listed(said)


def lines(state: SwitchState) -> Iterator[str]:
    """The state as text, sorted."""
    yield from sorted(state.lines())
