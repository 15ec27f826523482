"""A BfRuntime server that records every message and validates it by bfrt.json.

It does not use the controller's schema: it reads bfrt.json and protobuf's messages directly. It
refuses messages as bf_switchd does: UNKNOWN with one `Error` per update. From the start, tables of
the device have the entries of its ports, and only those. The shaper rounds rates to steps
(`RATE_STEP`), as one with mantissa and exponent does.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from typing import Any

import grpc
from finsy.proto import rpc_status
from google.protobuf import any_pb2

from narrows.controller.bfrt import bfruntime_pb2 as pb
from tests.support.bfrt import tables as bfrt_tables
from tests.support.bfrt.values import (
    RefusedError,
    check_data,
    check_key,
    data_fields,
    invalid,
    serialized,
    size,
)

PROGRAM = "tna"
PORTS = (132, 140, 148)
"""Device ports of pipe 1, the lanes 0 of their groups."""
PIPES = 4
ALL_PIPES = 0xFFFF
CELL_BYTES = {"tf1": 80, "tf2": 176}
TOTAL_CELLS = {"tf1": 280 * 1024, "tf2": 384 * 1024}
RATE_STEP = 16
OF_A_PIPE = ("queue.buffer", "counter.queue")
"""The device's tables with keys that do not contain the pipe."""
WRITABLE = ("Register", "Counter", "PortConfigure", "MirrorCfg")
"""Kinds of tables with entries that can be added and deleted, or set before they are written."""

Key = tuple[tuple[int, bytes], ...]


class FakeSwitch:
    """The server's state: the messages it received, and the contents of its tables."""

    def __init__(self, prefix: str = "tf1") -> None:
        self.prefix = prefix
        self.address = ""
        self.texts = [bfrt_tables.program(prefix), bfrt_tables.device(prefix)]
        self.tables: dict[int, dict[str, Any]] = {
            one["id"]: one for text in self.texts for one in text["tables"]
        }
        self.names = {one["name"]: one["id"] for one in self.tables.values()}
        self.requests = list[Any]()
        """Every message, in order."""
        self.subscribed = set[int]()
        self.bound: int | None = None
        self.entries: dict[int, dict[tuple[int, Key], pb.TableEntry]] = {
            number: {} for number in self.tables
        }
        self._preset()

    def _preset(self) -> None:
        tm = f"{self.prefix}.tm."
        self._put(tm + "cfg", {}, {"cell_size_bytes": CELL_BYTES[self.prefix],
                                   "total_cells": TOTAL_CELLS[self.prefix]})  # fmt: skip
        for at, port in enumerate(PORTS):
            key = {"dev_port": port}
            queues = [8 * at + n for n in range(8)]
            self._put(tm + "port.cfg", key, {"pg_id": 1, "pg_port_nr": at,
                                             "egress_qid_queues": queues})  # fmt: skip
            self._put(tm + "port.sched_cfg", key, {"max_rate_enable": False})
            self._put(tm + "port.sched_shaping", key, {"unit": "BPS", "provisioning": "UPPER",
                      "max_rate": 10**8, "max_burst_size": 16384})  # fmt: skip
            self._put("$PORT_STAT", {"$DEV_PORT": port}, {"$FramesTransmittedOK": 7,
                      "$OctetsTransmittedwithouterror": 10_598})  # fmt: skip
            for queue in queues:
                place = {"pg_id": 1, "pg_queue": queue}
                counts = {"drop_count_packets": 3, "usage_cells": 41, "watermark_cells": 400}
                self._put(tm + "counter.queue", place, counts, pipe=1)
                self._put(tm + "queue.buffer", place, {"guaranteed_cells": 20,
                          "hysteresis_cells": 32, "tail_drop_enable": True}, pipe=1)  # fmt: skip

    def _put(
        self, name: str, key: dict[str, int], data: dict[str, Any], pipe: int = ALL_PIPES
    ) -> None:
        """An entry that exists from the start."""
        table = self.tables[self.names[name]]
        entry = pb.TableEntry(table_id=table["id"])
        for one in table["key"]:
            value = key[one["name"]].to_bytes(size(one["type"]), "big")
            entry.key.fields.add(field_id=one["id"]).exact.value = value
        for common in table["data"]:
            one = common["singleton"]
            if one["name"] in data:
                entry.data.fields.append(self._field(one, data[one["name"]]))
        self.entries[table["id"]][self._place(entry, pipe)] = entry

    def _field(self, one: dict[str, Any], value: Any) -> pb.DataField:
        match value:
            case bool():
                return pb.DataField(field_id=one["id"], bool_val=value)
            case str():
                return pb.DataField(field_id=one["id"], str_val=value)
            case list():
                return pb.DataField(
                    field_id=one["id"], int_arr_val=pb.DataField.IntArray(val=value)
                )
        stream = value.to_bytes(size(one["type"]), "big")
        return pb.DataField(field_id=one["id"], stream=stream)

    def _place(self, entry: pb.TableEntry, pipe: int) -> tuple[int, Key]:
        """The identity of the entry, which excludes its action and data."""
        return pipe, tuple(sorted((one.field_id, serialized(one)) for one in entry.key.fields))

    # The state that tests read.

    def names_written(self) -> list[str]:
        """The tables of all updates so far, in their order."""
        return [
            self.tables[update.entity.table_entry.table_id]["name"]
            for request in self.requests
            if isinstance(request, pb.WriteRequest)
            for update in request.updates
        ]

    def data(self, name: str, key: dict[str, int] | None = None, pipe: int = ALL_PIPES) -> Any:
        """An entry's data by field name; without a key, of the table's only entry."""
        table = self.tables[self.names[name]]
        wanted = pb.TableEntry()
        for one in table["key"] if key else ():
            assert key
            value = key[one["name"]].to_bytes(size(one["type"]), "big")
            wanted.key.fields.add(field_id=one["id"]).exact.value = value
        entries = self.entries[table["id"]]
        [entry] = [entries[self._place(wanted, pipe)]] if key is not None else entries.values()
        fields = {one["id"]: one for one in data_fields(table, entry.data.action_id)}
        read = dict[str, Any]()
        for found in entry.data.fields:
            kind = found.WhichOneof("value")
            value = getattr(found, kind)
            read[fields[found.field_id]["name"]] = (
                int.from_bytes(value, "big") if kind == "stream" else value
            )
        return read

    def set_cell(self, name: str, at: int, per_pipe: dict[str, list[int]]) -> None:
        """A register's or counter's cell, with the value of each pipe."""
        table = self.tables[self.names[name]]
        entry = pb.TableEntry(table_id=table["id"])
        entry.key.fields.add(
            field_id=table["key"][0]["id"]
        ).exact.value = at.to_bytes(4, "big")  # fmt: skip
        for common in table["data"]:
            one = common["singleton"]
            for value in per_pipe[one["name"]]:
                entry.data.fields.append(self._field(one, value))
        self.entries[table["id"]][self._place(entry, ALL_PIPES)] = entry

    # The service.

    def stream_channel(self, requests: Iterator[Any], context: grpc.ServicerContext) -> Any:
        for request in requests:
            self.requests.append(request)
            self.subscribed.add(request.client_id)
            yield pb.StreamMessageResponse(subscribe=request.subscribe)
        self.subscribed.discard(request.client_id)
        if self.bound == request.client_id:
            self.bound = None

    def get_config(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.requests.append(request)
        program, device = map(bfrt_tables.as_bytes, self.texts)
        return pb.GetForwardingPipelineConfigResponse(
            config=[pb.ForwardingPipelineConfig(p4_name=PROGRAM, bfruntime_info=program)],
            non_p4_config=pb.NonP4Config(bfruntime_info=device),
        )

    def set_config(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.requests.append(request)
        if request.client_id not in self.subscribed:
            context.abort(grpc.StatusCode.NOT_FOUND, "client is not subscribed")
        if [one.p4_name for one in request.config] != [PROGRAM]:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no such program")
        if self.bound not in (None, request.client_id):
            context.abort(grpc.StatusCode.ALREADY_EXISTS, "program has a client")
        self.bound = request.client_id
        return pb.SetForwardingPipelineConfigResponse()

    def write(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.requests.append(request)
        before = copy.deepcopy(self.entries)
        errors = list[pb.Error]()
        for update in request.updates:
            try:
                self._check_target(request)
                self._update(update, request.target.pipe_id)
                errors.append(pb.Error())
            except RefusedError as why:
                errors.append(pb.Error(canonical_code=why.code.value[0], message=str(why)))
                if request.atomicity == pb.WriteRequest.ROLLBACK_ON_ERROR:
                    self.entries = before
                    break
        if any(one.canonical_code for one in errors):
            status = rpc_status.Status(code=2)
            for one in errors:
                detail = any_pb2.Any()
                detail.Pack(one)
                status.details.append(detail)
            context.set_trailing_metadata(
                (("grpc-status-details-bin", status.SerializeToString()),)
            )
            context.abort(grpc.StatusCode.UNKNOWN, "")
        return pb.WriteResponse()

    def read(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        self.requests.append(request)
        try:
            self._check_target(request)
            for entity in request.entities:
                for entry in self._found(entity.table_entry, request.target.pipe_id):
                    yield pb.ReadResponse(entities=[pb.Entity(table_entry=entry)])
        except RefusedError as why:
            context.abort(why.code, str(why))

    def _check_target(self, request: Any) -> None:
        if self.bound is None or request.client_id != self.bound:
            raise RefusedError(grpc.StatusCode.FAILED_PRECONDITION, "client is not bound")
        if request.p4_name not in ("", PROGRAM):
            raise invalid(f"p4_name {request.p4_name}")

    def _found(self, asked: pb.TableEntry, pipe: int) -> list[pb.TableEntry]:
        table = self._table(asked)
        at = self._pipe(table, asked, pipe)
        entries = self.entries[table["id"]]
        if not asked.key.fields and table["key"]:
            return list(entries.values())
        check_key(table, asked)
        found = entries.get(self._place(asked, at))
        if found is None and table["table_type"] in ("Register", "Counter"):
            return [self._zero(table, asked)]
        if found is None:
            raise RefusedError(grpc.StatusCode.NOT_FOUND, f"{table['name']}: no such entry")
        return [found]

    def _zero(self, table: dict[str, Any], asked: pb.TableEntry) -> pb.TableEntry:
        """A cell that was never written."""
        entry = pb.TableEntry(table_id=table["id"], key=asked.key)
        pipes = PIPES if table["table_type"] == "Register" else 1
        for common in table["data"]:
            entry.data.fields.extend([self._field(common["singleton"], 0)] * pipes)
        return entry

    # Validation.

    def _table(self, entry: pb.TableEntry) -> dict[str, Any]:
        if entry.table_id not in self.tables:
            raise invalid(f"table {entry.table_id}")
        return self.tables[entry.table_id]

    def _pipe(self, table: dict[str, Any], entry: pb.TableEntry, pipe: int) -> int:
        """The pipe of an entry. An entry of all pipes is the same for all."""
        asked = entry.entry_tgt.pipe_id if entry.HasField("entry_tgt") else pipe
        if table["name"].endswith(OF_A_PIPE):
            if not 0 <= asked < PIPES:
                raise invalid(f"{table['name']}: pipe {asked}: expected one of {PIPES}")
        elif asked != ALL_PIPES:
            raise invalid(f"{table['name']}: pipe {asked}: expected all")
        return asked

    def _update(self, update: pb.Update, pipe: int) -> None:
        entry = update.entity.table_entry
        table = self._table(entry)
        at = self._pipe(table, entry, pipe)
        check_key(table, entry)
        place, entries = self._place(entry, at), self.entries[table["id"]]
        kind = update.type
        comes = table["table_type"].startswith("MatchAction") or table["table_type"] in WRITABLE
        if kind not in (pb.Update.MODIFY,) and not comes:
            raise RefusedError(grpc.StatusCode.UNIMPLEMENTED, f"{table['name']}: only modified")
        if "ConstTable" in table["attributes"]:
            raise RefusedError(grpc.StatusCode.PERMISSION_DENIED, f"{table['name']} is constant")
        if kind in (pb.Update.MODIFY, pb.Update.DELETE) and place not in entries:
            raise RefusedError(grpc.StatusCode.NOT_FOUND, f"{table['name']}: no such entry")
        if kind == pb.Update.INSERT and place in entries:
            raise RefusedError(grpc.StatusCode.ALREADY_EXISTS, f"{table['name']}: entry exists")
        if kind == pb.Update.DELETE:
            del entries[place]
            return
        if kind not in (pb.Update.INSERT, pb.Update.MODIFY, pb.Update.INSERT_OR_MODIFY):
            raise invalid(f"update of type {kind}")
        if len(entries) >= table.get("size", 2**32):
            raise RefusedError(grpc.StatusCode.RESOURCE_EXHAUSTED, f"{table['name']} is full")
        check_data(table, entry)
        merged = pb.TableEntry(table_id=table["id"], key=entry.key, data=entry.data)
        if place in entries:
            given = {one.field_id for one in entry.data.fields}
            kept = [one for one in entries[place].data.fields if one.field_id not in given]
            merged.data.fields.extend(kept)
        if table["name"].endswith("port.sched_shaping"):
            self._step(table, merged)
        if table["name"] == "$PORT":
            self._link(table, merged)
        entries[place] = merged

    def _step(self, table: dict[str, Any], entry: pb.TableEntry) -> None:
        number = next(c["singleton"] for c in table["data"] if c["singleton"]["name"] == "max_rate")
        for one in entry.data.fields:
            if one.field_id == number["id"]:
                rate = int.from_bytes(one.stream, "big")
                one.stream = (-(-rate // RATE_STEP) * RATE_STEP).to_bytes(4, "big")

    def _link(self, table: dict[str, Any], entry: pb.TableEntry) -> None:
        """A port that is on has a link."""
        fields = {c["singleton"]["name"]: c["singleton"]["id"] for c in table["data"]}
        on = any(o.bool_val for o in entry.data.fields if o.field_id == fields["$PORT_ENABLE"])
        kept = [one for one in entry.data.fields if one.field_id != fields["$PORT_UP"]]
        del entry.data.fields[:]
        entry.data.fields.extend([*kept, pb.DataField(field_id=fields["$PORT_UP"], bool_val=on)])


@contextmanager
def served(switch: FakeSwitch) -> Iterator[str]:
    """The server and its address, which the switch then has too."""

    def unary(handle: Any, request: Any) -> Any:
        return grpc.unary_unary_rpc_method_handler(
            handle, request.FromString, lambda message: message.SerializeToString()
        )

    handlers = {
        "Write": unary(switch.write, pb.WriteRequest),
        "SetForwardingPipelineConfig": unary(
            switch.set_config, pb.SetForwardingPipelineConfigRequest
        ),
        "GetForwardingPipelineConfig": unary(
            switch.get_config, pb.GetForwardingPipelineConfigRequest
        ),
        "Read": grpc.unary_stream_rpc_method_handler(
            switch.read, pb.ReadRequest.FromString, lambda message: message.SerializeToString()
        ),
        "StreamChannel": grpc.stream_stream_rpc_method_handler(
            switch.stream_channel,
            pb.StreamMessageRequest.FromString,
            lambda message: message.SerializeToString(),
        ),
    }
    server = grpc.server(futures.ThreadPoolExecutor(8))
    service = pb.DESCRIPTOR.services_by_name["BfRuntime"]
    assert {method.name for method in service.methods} == set(handlers)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(service.full_name, handlers),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    switch.address = f"127.0.0.1:{port}"
    try:
        yield switch.address
    finally:
        server.stop(None).wait()
