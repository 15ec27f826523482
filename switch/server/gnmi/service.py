"""A gNMI server (0.10.0) for a switch's traffic manager; docs/guide/gnmi.md lists its paths.

`GnmiService(target).add_to(server)` puts it on the same gRPC port as P4Runtime. `leaves.py` lists
its leaves. It refuses unknown paths, values of a wrong type or out of range, and settings that the
switch does not support. The error has the canonical code and names the path and the expected value.
A Set is atomic.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import grpc
from finsy.proto import gnmi, gnmi_grpc

from narrows.schema.plan import QueueShare
from narrows.switch.server.access import OPEN, Access
from narrows.switch.server.gnmi import subscriptions
from narrows.switch.server.gnmi.encoding import checked, encode, json_value, scalar, written
from narrows.switch.server.gnmi.leaves import (
    VERSIONS,
    Leaf,
    TrafficManager,
    Value,
)
from narrows.switch.server.gnmi.queue_leaves import QUEUES
from narrows.switch.server.gnmi.refusals import (
    RefusedError,
    check_length,
    check_paths,
    check_values,
    invalid,
    refusing,
)
from narrows.switch.server.gnmi.target_leaves import leaves_of_target
from narrows.switch.server.gnmi.tree import (
    Found,
    Tree,
    Wanted,
    show_wanted,
    subtree,
    values,
)

VERSION = "0.10.0"
STREAMS_MAX = 48
"""Maximum concurrent subscriptions: each occupies a server thread, and calls need threads too."""
ENCODINGS = {gnmi.PROTO: "PROTO", gnmi.JSON_IETF: "JSON_IETF", gnmi.JSON: "JSON"}


@dataclass(frozen=True)
class Write:
    """A leaf of one port and its new value."""

    leaf: Leaf
    port: int
    value: Value


class GnmiService(gnmi_grpc.gNMIServicer):
    """gNMI over a target's traffic manager."""

    def __init__(self, target: TrafficManager, access: Access = OPEN) -> None:
        self.target = target
        self.access = access
        self.tree = Tree(leaves_of_target(target))
        # Keeps the Sets of two clients apart.
        self.setting = threading.Lock()
        self.streams = threading.BoundedSemaphore(STREAMS_MAX)

    def add_to(self, server: grpc.Server) -> None:
        """Adds the service to a server that has not started."""
        gnmi_grpc.add_gNMIServicer_to_server(self, server)

    def Capabilities(  # noqa: N802 (the generated name)
        self, request: gnmi.CapabilityRequest, context: grpc.ServicerContext
    ) -> gnmi.CapabilityResponse:
        """Returns the models, the encodings and the version."""
        return gnmi.CapabilityResponse(
            supported_models=[
                gnmi.ModelData(name=name, organization=organization(name), version=version)
                for name, version in VERSIONS.items()
            ],
            supported_encodings=list(ENCODINGS),
            gNMI_version=VERSION,
        )

    def Get(  # noqa: N802
        self, request: gnmi.GetRequest, context: grpc.ServicerContext
    ) -> gnmi.GetResponse:
        """Returns a notification for each path of the request."""
        with refusing(context):
            self.access.of(context).check_gnmi("read")
            check_encoding(request.encoding)
            if request.type not in KEEP:
                known = ", ".join(map(gnmi.GetRequest.DataType.Name, KEEP))
                raise invalid(f"type {request.type}: expected one of {known}")
            keep = KEEP[request.type]
            paths = request.path or [gnmi.Path()]
            check_paths(len(paths))
            notifications, selected = [], 0
            for path in paths:
                wanted = joined(request.prefix, path)
                found = self.tree.find(wanted, self.target.queues())
                selected += len(found)
                check_values(selected)
                if not found and not is_wild(wanted):
                    raise self.not_found(wanted)
                updates = [
                    gnmi.Update(path=proto_path(path), val=value)
                    for path, value in self.read(found, keep, request.encoding)
                ]
                if not updates and not is_wild(wanted):
                    text = f"{show_wanted(wanted)}: it has no value of the requested type now"
                    raise RefusedError(grpc.StatusCode.NOT_FOUND, text)
                notifications.append(
                    gnmi.Notification(
                        timestamp=time.time_ns(), prefix=answer_prefix(request.prefix),
                        update=updates,
                    )
                )  # fmt: skip
            return gnmi.GetResponse(notification=notifications)

    def read(
        self, found: list[Found], keep: Callable[[Leaf], bool], encoding: int
    ) -> Iterator[tuple[Any, gnmi.TypedValue]]:
        """Paths and values: single leaves, or in JSON the subtree of each match."""
        have = list(values(self.target, found, keep))
        if encoding == gnmi.PROTO:
            for one, value in have:
                yield one.path, scalar(one.leaf, value)
            return
        groups = dict[Any, list[tuple[Found, Value]]]()
        for one, value in have:
            groups.setdefault(one.path[: one.depth], []).append((one, value))
        is_ietf = encoding == gnmi.JSON_IETF
        for path, leaves in groups.items():
            yield path, json_value(subtree(leaves, len(path), ietf=is_ietf), ietf=is_ietf)

    def Set(  # noqa: N802
        self, request: gnmi.SetRequest, context: grpc.ServicerContext
    ) -> gnmi.SetResponse:
        """Deletes, then replaces, then updates (gNMI section 3.4.3), atomically."""
        with refusing(context), self.setting:
            self.access.of(context).check_gnmi("write")
            if request.union_replace:
                raise RefusedError(grpc.StatusCode.UNIMPLEMENTED, "Set: union_replace")
            check_paths(len(request.delete) + len(request.replace) + len(request.update))
            for path in request.delete:
                self.refuse_delete(joined(request.prefix, path))
            results, writes = [], list[Write]()
            for operation, updates in (
                (gnmi.UpdateResult.REPLACE, request.replace),
                (gnmi.UpdateResult.UPDATE, request.update),
            ):
                for update in updates:
                    wanted = joined(request.prefix, update.path)
                    content = written(wanted, update)
                    for path, value in self.tree.flatten(wanted, content):
                        writes += self.check_write(path, value)
                    results.append(gnmi.UpdateResult(path=update.path, op=operation))
            self.apply(writes)
            return gnmi.SetResponse(
                prefix=answer_prefix(request.prefix), response=results, timestamp=time.time_ns()
            )

    def refuse_delete(self, wanted: Wanted) -> NoReturn:
        """Refuses every delete: an existing port always has a rate and a limit."""
        leaves = self.tree.leaves_of(wanted)
        text = show_wanted(wanted)
        if any(leaf.write for leaf, _ in leaves):
            what = "Set delete: a port's rate and queue limit cannot be deleted"
            raise RefusedError(grpc.StatusCode.UNIMPLEMENTED, f"{text}: {what}; use update")
        raise invalid(f"{text}: is read-only")

    def check_write(self, wanted: Wanted, value: Any) -> Iterator[Write]:
        """Converts a value at a path to port settings; raises for values that cannot be written."""
        text = show_wanted(wanted)
        found = self.tree.find(wanted, self.target.queues())
        if not found:
            raise self.not_found(wanted)
        for one in found:
            leaf = one.leaf
            if one.depth != len(one.path):
                raise invalid(f"{text}: expected a JSON object, got {value!r}")
            if leaf.write is None:
                # A container that was read may be written back: its read-only leaves are unchanged.
                now = leaf.read(self.target.port_state(one.port))
                if leaf.is_config and now is not None and str(value) == str(now):
                    continue
                raise invalid(f"{text}: is read-only")
            yield Write(leaf, one.port, checked(text, leaf, value))

    def not_found(self, wanted: Wanted) -> RefusedError:
        """The error for a path of a port or a queue that does not exist."""
        text, queues = show_wanted(wanted), self.target.queues()
        ports = {one.port for one in self.tree.find(wanted, dict.fromkeys(queues, len(QUEUES)))}
        if ports:
            known = ", ".join(f"port {port} has {queues[port]}" for port in sorted(ports))
            text = f"{text}: there is no such queue; {known}"
        else:
            known = ", ".join(map(str, sorted(queues))) or "none"
            text = f"{text}: there is no such port; there are {known}"
        return RefusedError(grpc.StatusCode.NOT_FOUND, text)

    def apply(self, writes: list[Write]) -> None:
        """Writes in order; if one is refused, restores the ports and raises."""
        before = {write.port: self.target.port_state(write.port) for write in writes}
        done = list[int]()
        try:
            for write in sorted(writes, key=lambda write: not write.leaf.is_first):
                assert write.leaf.write is not None
                write.leaf.write(self.target, write.port, write.value)
                done.append(write.port)
        except Exception:
            for port in dict.fromkeys(done):
                state = before[port]
                self.target.set_queue_limit(port, state["queue"])
                self.target.set_discipline(port, {**state["discipline"]})
                for queue, one in enumerate(state["classes"]):
                    share: QueueShare = {"queue": queue, "weight": one["weight"]}
                    self.target.set_share(port, {**share, "rate_bps": one["rate_bps"]})
                if state["rate_bps"] is not None:
                    self.target.set_rate(port, state["rate_bps"])
            raise

    def Subscribe(  # noqa: N802
        self, request_iterator: Iterator[gnmi.SubscribeRequest], context: grpc.ServicerContext
    ) -> Iterator[gnmi.SubscribeResponse]:
        """Serves ONCE, POLL or STREAM, by the mode of the first message."""
        gone = threading.Event()
        context.add_callback(gone.set)
        with refusing(context):
            self.access.of(context).check_gnmi("read")
            if not self.streams.acquire(blocking=False):
                raise RefusedError(
                    grpc.StatusCode.RESOURCE_EXHAUSTED,
                    f"Subscribe: expected at most {STREAMS_MAX} concurrent subscriptions",
                )
            try:
                yield from self.subscribe(request_iterator, gone)
            finally:
                self.streams.release()

    def subscribe(
        self, requests: Iterator[gnmi.SubscribeRequest], gone: threading.Event
    ) -> Iterator[gnmi.SubscribeResponse]:
        """Serves one subscription list until it is complete or the client disconnects."""
        first = next(requests, None)
        if first is None:
            return
        if first.WhichOneof("request") != "subscribe":
            raise invalid("Subscribe: expected a SubscriptionList as the first message")
        wanted = first.subscribe
        check_encoding(wanted.encoding)
        check_paths(len(wanted.subscription))
        reader = subscriptions.Reader(
            self.target,
            self.tree,
            lambda found, value: encode(found.leaf, value, wanted.encoding),
            answer_prefix(wanted.prefix),
        )
        asked = [
            subscriptions.Asked.of(one, joined(wanted.prefix, one.path), self.tree)
            for one in wanted.subscription
        ]
        selected = 0
        for one in asked:
            selected += len(reader.found(one))
            check_values(selected)
        if wanted.mode == gnmi.SubscriptionList.STREAM:
            yield from subscriptions.stream(reader, asked, gone, updates_only=wanted.updates_only)
            return
        yield from subscriptions.once(reader, asked, updates_only=wanted.updates_only)
        if wanted.mode == gnmi.SubscriptionList.POLL:
            for request in requests:
                if request.WhichOneof("request") != "poll":
                    raise invalid("Subscribe: expected a Poll on a stream of mode POLL")
                yield from subscriptions.once(reader, asked, updates_only=False)


def organization(model: str) -> str:
    """The organization that publishes a model."""
    return "OpenConfig working group" if model.startswith("openconfig") else "Narrows"


def is_any(leaf: Leaf) -> bool:
    """Accepts every leaf."""
    return True


def is_config(leaf: Leaf) -> bool:
    """Accepts leaves of settings."""
    return leaf.is_config


def is_state(leaf: Leaf) -> bool:
    """Accepts leaves of state: measured, or in force."""
    return not leaf.is_config


KEEP: dict[int, Callable[[Leaf], bool]] = {
    gnmi.GetRequest.ALL: is_any,
    gnmi.GetRequest.CONFIG: is_config,
    gnmi.GetRequest.STATE: is_state,
    gnmi.GetRequest.OPERATIONAL: is_state,
}


def check_encoding(encoding: int) -> None:
    """Raises for an unsupported encoding."""
    if encoding not in ENCODINGS:
        name = gnmi.Encoding.Name(encoding) if encoding in gnmi.Encoding.values() else encoding
        known = ", ".join(ENCODINGS.values())
        raise RefusedError(
            grpc.StatusCode.UNIMPLEMENTED, f"encoding {name}: expected one of {known}"
        )


def joined(prefix: gnmi.Path, path: gnmi.Path) -> Wanted:
    """The elements of prefix and path. Raises for the deprecated `element` field."""
    for part in (prefix, path):
        if part.element:
            raise invalid("path.element: expected path.elem, which replaced it in gNMI 0.4.0")
        if part.origin not in ("", "openconfig"):
            raise invalid(f"path.origin is '{part.origin}': expected 'openconfig' or none")
    check_length(len(prefix.elem) + len(path.elem))
    elems = [*prefix.elem, *path.elem]
    check_length(sum(1 + len(elem.key) for elem in elems))
    # A module may qualify a name. Consecutive `...` count as one.
    wanted = [(elem.name.rpartition(":")[2], dict(elem.key)) for elem in elems]
    return [
        one
        for one, name in zip(wanted, ["", *(name for name, _ in wanted)], strict=False)
        if (one[0], name) != ("...", "...")
    ]


def is_wild(wanted: Wanted) -> bool:
    """True if the path has a wildcard, so that an empty result is valid. A missing key is a
    wildcard.
    """
    return not wanted or any(name in ("*", "...") or "*" in keys.values() for name, keys in wanted)


def answer_prefix(prefix: gnmi.Path) -> gnmi.Path | None:
    """The prefix of answers: their paths are absolute, so it holds only the request's target
    (section 2.2.2.1).
    """
    return gnmi.Path(target=prefix.target) if prefix.target else None


def proto_path(path: Iterable[tuple[str, Any]]) -> gnmi.Path:
    """Converts a path to gNMI."""
    return gnmi.Path(elem=[gnmi.PathElem(name=name, key=dict(keys)) for name, keys in path])
