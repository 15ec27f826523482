"""One connection to a switch's BfRuntime server. It subscribes, binds to a program and reads the
table descriptions from the switch. Entries are then written and read by name.

    async with BfrtClient("10.0.0.5:50052") as client:
        await client.write([Change.modify("tf1.tm.port.sched_cfg", {"dev_port": 132},
                                          {"max_rate_enable": True})])

A program accepts one client at a time; the server refuses a second binding.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, TypeVar

import grpc
from finsy.proto import rpc_status
from google.protobuf.message import Message

from narrows.controller.bfrt import bfruntime_pb2 as pb
from narrows.controller.bfrt.schema import Schema, SchemaError, Table, Value, unknown
from narrows.controller.errors import ControllerError, DriverError, listed
from narrows.controller.matches import Exact, Match

M = TypeVar("M", bound=Message)
SERVICE = "/bfrt_proto.BfRuntime/"
ALL_PIPES, ALL_DIRECTIONS, ALL_PARSERS = 0xFFFF, 0xFF, 0xFF
BATCH = 500
"""Maximum updates per request."""
TIMEOUT_S = 10.0
GOODBYE_S = 1.0
BRIDGE_BYTES = 12
"""`bridge_t` of p4/tna.p4: 96 bits."""

INSERT, MODIFY, DELETE = pb.Update.INSERT, pb.Update.MODIFY, pb.Update.DELETE
INSERT_OR_MODIFY = pb.Update.INSERT_OR_MODIFY

Key = Mapping[str, int | Match]
"""A key by its fields; a number is an exact match."""


class BfrtError(ControllerError, DriverError):
    """The switch refused a request or is unreachable."""


@dataclass(frozen=True)
class Change:
    """A write of one entry; an empty key names the only entry of a keyless table."""

    kind: pb.Update.Type
    table: str
    key: Key = field(default_factory=dict)
    data: Mapping[str, Value] = field(default_factory=dict)
    action: str | None = None
    pipe: int = ALL_PIPES

    @classmethod
    def modify(
        cls, table: str, key: Key, data: Mapping[str, Value], action: str | None = None,
        pipe: int = ALL_PIPES,
    ) -> Change:  # fmt: skip
        """Modifies an existing entry."""
        return cls(MODIFY, table, key, data, action, pipe)


@dataclass(frozen=True)
class Row:
    """An entry that was read. A field that exists once per pipe has one value per pipe."""

    key: Mapping[str, Match]
    action: str | None
    data: Mapping[str, Sequence[Value]]

    def one(self, name: str) -> Value:
        """The value of a field with a single value. Raises `BfrtError` if the answer lacks it."""
        if not self.data.get(name):
            raise BfrtError(f"{name}: the switch returned no value")
        return self.data[name][0]

    def number(self, name: str) -> int:
        """The number of a field with a single value. Raises `BfrtError` if it is none."""
        value = self.one(name)
        if not isinstance(value, int):
            raise BfrtError(f"{name}: expected a number, the switch returned {value!r}")
        return value

    def numbers(self, name: str) -> list[int]:
        """A field's number per pipe; empty if the answer lacks the field. Raises `BfrtError` if
        its values are no numbers.
        """
        values = [value for value in self.data.get(name, ()) if isinstance(value, int)]
        if len(values) != len(self.data.get(name, ())):
            raise BfrtError(f"{name}: expected numbers, the switch returned {self.data[name]}")
        return values


@dataclass(frozen=True)
class Device:
    """The Tofino generation and the cell size of its packet buffer."""

    prefix: str
    """Prefix of its table names: `tf1` or `tf2`."""
    cell_bytes: int
    total_cells: int

    def cells(self, packet_bytes: int) -> int:
        """Buffer cells that a packet of so many wire bytes occupies, including the bridged header
        of p4/tna.p4.
        """
        return -(-(packet_bytes + BRIDGE_BYTES) // self.cell_bytes)


class BfrtClient:
    """A connection. Methods raise `BfrtError` with the switch's own words."""

    def __init__(
        self, address: str, *, program: str | None = None, device_id: int = 0, client_id: int = 1
    ) -> None:
        self.address = address
        self.program = program
        """The program's name on the switch; None means the only one that runs."""
        self.device_id, self.client_id = device_id, client_id
        self.schema = Schema(())
        self.device = Device("", 1, 0)

    async def __aenter__(self) -> Self:
        self._channel = grpc.aio.insecure_channel(
            self.address, options=[("grpc.max_receive_message_length", -1)]
        )
        try:
            async with asyncio.timeout(TIMEOUT_S):
                await self._subscribe()
                await self._bind()
                await self._know_device()
        except TimeoutError:
            await self._channel.close()
            raise BfrtError(f"{self.address}: no BfRuntime server answers") from None
        except BaseException:
            await self._channel.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The switch frees the program only after it sees the end of the stream.
        with suppress(grpc.RpcError, asyncio.InvalidStateError, TimeoutError):
            async with asyncio.timeout(GOODBYE_S):
                await self._stream.done_writing()
                await self._stream.read()
        await self._channel.close()

    async def _subscribe(self) -> None:
        open_stream = self._channel.stream_stream(
            SERVICE + "StreamChannel",
            request_serializer=pb.StreamMessageRequest.SerializeToString,
            response_deserializer=pb.StreamMessageResponse.FromString,
        )
        self._stream = open_stream()
        subscribe = pb.Subscribe(device_id=self.device_id)
        with self._explained():
            await self._stream.write(
                pb.StreamMessageRequest(client_id=self.client_id, subscribe=subscribe)
            )
            if await self._stream.read() is grpc.aio.EOF:
                raise BfrtError(
                    f"{self.address}: the switch did not accept client {self.client_id}"
                )

    async def _bind(self) -> None:
        ask = pb.GetForwardingPipelineConfigRequest(
            device_id=self.device_id, client_id=self.client_id
        )
        answer = await self._call(
            "GetForwardingPipelineConfig", ask, pb.GetForwardingPipelineConfigResponse
        )
        programs = {one.p4_name: one.bfruntime_info for one in answer.config}
        if self.program is None and len(programs) == 1:
            [self.program] = programs
        if self.program not in programs:
            there = ", ".join(map(repr, programs)) or "none"
            wanted = unknown(self.program, programs) if self.program else "is not named"
            raise BfrtError(f"{self.address}: program {wanted}; expected one of {there}")
        try:
            self.schema = Schema.from_texts(
                [programs[self.program], answer.non_p4_config.bfruntime_info]
            )
        except SchemaError as error:
            raise BfrtError(f"{self.address}: {error}") from None
        bind = pb.SetForwardingPipelineConfigRequest(
            device_id=self.device_id,
            client_id=self.client_id,
            action=pb.SetForwardingPipelineConfigRequest.BIND,
            config=[pb.ForwardingPipelineConfig(p4_name=self.program)],
        )
        await self._call(
            "SetForwardingPipelineConfig", bind, pb.SetForwardingPipelineConfigResponse
        )

    async def _know_device(self) -> None:
        found = [one for one in ("tf1", "tf2") if f"{one}.tm.cfg" in self.schema.tables]
        if not found:
            raise BfrtError(f"{self.address}: found no traffic manager of a Tofino 1 or 2")
        row = await self.row(f"{found[0]}.tm.cfg", {})
        self.device = Device(found[0], row.number("cell_size_bytes"), row.number("total_cells"))

    # Writing.

    async def write(self, changes: Sequence[Change]) -> None:
        """Writes changes in order. Changes that fit in one request are atomic: one refusal undoes
        all.
        """
        updates = [self._update(change) for change in changes]
        for first in range(0, len(updates), BATCH):
            request = pb.WriteRequest(
                target=self._target(ALL_PIPES),
                client_id=self.client_id,
                updates=updates[first : first + BATCH],
                atomicity=pb.WriteRequest.ROLLBACK_ON_ERROR,
                p4_name=self.program,
            )
            await self._call("Write", request, pb.WriteResponse)

    def _update(self, change: Change) -> pb.Update:
        with self._explained():
            table = self.schema.table(change.table)
            entry = self._entry(table, change.key, change.pipe)
            fields = table.fields(change.action)
            if change.action:
                entry.data.action_id = table.actions[change.action].id
            for name, value in change.data.items():
                entry.data.fields.append(fields[table.known(name, fields)].data(value))
        return pb.Update(type=change.kind, entity=pb.Entity(table_entry=entry))

    def _entry(self, table: Table, key: Key | None, pipe: int) -> pb.TableEntry:
        entry = pb.TableEntry(
            table_id=table.id,
            entry_tgt=self._target(pipe),
            is_default_entry=key is not None and not table.key,
        )
        for name, match in (key or {}).items():
            one = Exact(match) if isinstance(match, int) else match
            entry.key.fields.append(table.key[table.known(name, table.key)].key(one))
        return entry

    def _target(self, pipe: int) -> pb.TargetDevice:
        return pb.TargetDevice(
            device_id=self.device_id,
            pipe_id=pipe,
            direction=ALL_DIRECTIONS,
            prsr_id=ALL_PARSERS,
        )

    # Reading.

    async def rows(
        self, table: str, key: Key | None = None, pipe: int = ALL_PIPES
    ) -> AsyncIterator[Row]:
        """Reads one entry by key, the only entry of a keyless table (`{}`), or all entries."""
        with self._explained():
            described = self.schema.table(table)
            entry = self._entry(described, key, pipe)
        # Without this the driver returns cached counters and registers.
        entry.table_flags.from_hw = described.type in ("Counter", "Register")
        request = pb.ReadRequest(
            target=self._target(pipe),
            client_id=self.client_id,
            entities=[pb.Entity(table_entry=entry)],
            p4_name=self.program,
        )
        call = self._channel.unary_stream(
            SERVICE + "Read",
            request_serializer=pb.ReadRequest.SerializeToString,
            response_deserializer=pb.ReadResponse.FromString,
        )
        with self._explained():
            async for response in call(request, timeout=TIMEOUT_S):
                for entity in response.entities:
                    if not entity.table_entry.is_default_entry or not described.key:
                        yield self._row(described, entity.table_entry)

    async def row(self, table: str, key: Key, pipe: int = ALL_PIPES) -> Row:
        """The entry with this key. Raises `BfrtError` if it does not exist."""
        async for found in self.rows(table, key, pipe):
            return found
        raise BfrtError(f"{self.address}: {table} {dict(key)}: no such entry")

    def _row(self, table: Table, entry: pb.TableEntry) -> Row:
        keys = {field.id: field for field in table.key.values()}
        key = {keys[one.field_id].name: keys[one.field_id].match(one) for one in entry.key.fields}
        by_id = {action.id: action.name for action in table.actions.values()}
        action = by_id.get(entry.data.action_id)
        fields = {field.id: field for field in table.fields(action).values()}
        data = dict[str, list[Value]]()
        for one in entry.data.fields:
            data.setdefault(fields[one.field_id].name, []).append(fields[one.field_id].value(one))
        return Row(key, action, data)

    async def _call(self, name: str, request: Message, answer: type[M]) -> M:
        call: Callable[..., Awaitable[M]] = self._channel.unary_unary(
            SERVICE + name,
            request_serializer=type(request).SerializeToString,
            response_deserializer=answer.FromString,
        )
        with self._explained():
            return await call(request, timeout=TIMEOUT_S)

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self.address)


@contextmanager
def explained(address: str) -> Iterator[None]:
    """Converts gRPC and schema errors to `BfrtError`; names the first refused updates."""
    try:
        yield
    except grpc.RpcError as error:
        raise BfrtError(f"{address}: {words(error)}") from None
    except SchemaError as error:
        raise BfrtError(f"{address}: {error}") from None


def words(error: grpc.aio.AioRpcError) -> str:
    """The switch's error text: per update where available, otherwise for the request."""
    said = list[str]()
    for name, content in error.trailing_metadata() or ():
        if name == "grpc-status-details-bin":
            for number, detail in enumerate(rpc_status.Status.FromString(content).details):
                one = pb.Error.FromString(detail.value)
                if one.canonical_code:
                    code = next(c for c in grpc.StatusCode if c.value[0] == one.canonical_code)
                    said.append(f"update {number}: {code.name}: {one.message}")
    return listed(said) or f"{error.code().name}: {error.details()}"
