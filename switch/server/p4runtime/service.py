"""The P4Runtime server (P4Runtime specification 1.4) of one switch.

Calls run on gRPC's threads. One lock serializes writes, reads and pipeline changes. Another one
protects what goes to controllers' streams. It is held for one update at a time, so a long read or
batch delays no stream. The switch is held for one operation at a time, so packets continue to flow.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator

import grpc
from finsy.proto import p4r, p4r_grpc

from narrows.schema import budgets
from narrows.switch.server.access import OPEN, Access, Rights
from narrows.switch.server.p4runtime import status
from narrows.switch.server.p4runtime.arbitration import (
    Arbitration,
    Controller,
    requested_role,
)
from narrows.switch.server.p4runtime.packet_io import packet_in, packet_out
from narrows.switch.server.p4runtime.pipeline import Pipeline, read_config
from narrows.switch.server.p4runtime.reading import Reading, check_read, serialized, stream
from narrows.switch.server.p4runtime.roles import Scope, names_of
from narrows.switch.server.target import Target, TargetError, invalid

API_VERSION = "1.4.1"
STREAMS_MAX = 64
"""Half of the server's threads; the others serve calls."""
PARTS_OF_A_POLL = 8
TURN_S = 0.001
"""Between two parts. Python's locks know no order: a thread that takes one again at once leaves the
threads that wait for it without a turn."""
LOCK_PATIENCE_S = 0.1
"""How long a poll waits for an update; the caller has other work."""
LOG = logging.getLogger("narrows.switch")
# finsy recognizes this text.
NO_CONFIG = "no forwarding pipeline config is set for this device"


class P4RuntimeService(p4r_grpc.P4RuntimeServicer):
    """P4Runtime for a target. `config` is the configuration that the target already runs."""

    def __init__(
        self,
        target: Target,
        device_id: int = 0,
        config: p4r.ForwardingPipelineConfig | None = None,
        access: Access = OPEN,
    ) -> None:
        self.target = target
        self.access = access
        self.arbitration = Arbitration(device_id)
        self.reading = Reading()
        self._requests = threading.RLock()
        # Taken after the other one.
        self._lock = threading.RLock()
        self._counting = threading.Lock()
        self._pipeline: Pipeline | None = None
        self._saved: p4r.ForwardingPipelineConfig | None = None
        self._streams = 0
        if config is not None:
            self._pipeline = Pipeline(target, config, read_config(target, config))

    def add_to(self, server: grpc.Server) -> None:
        """Adds the service to a server."""
        p4r_grpc.add_P4RuntimeServicer_to_server(self, server)

    @property
    def has_pipeline(self) -> bool:
        """True if a controller has set the pipeline."""
        return self._pipeline is not None

    # Calls

    def Capabilities(  # noqa: N802
        self, request: p4r.CapabilitiesRequest, context: grpc.ServicerContext
    ) -> p4r.CapabilitiesResponse:
        """Returns the version of P4Runtime."""
        return p4r.CapabilitiesResponse(p4runtime_api_version=API_VERSION)

    def SetForwardingPipelineConfig(  # noqa: N802
        self, request: p4r.SetForwardingPipelineConfigRequest, context: grpc.ServicerContext
    ) -> p4r.SetForwardingPipelineConfigResponse:
        """Verifies, saves or commits a configuration."""
        try:
            self.access.of(context).check_push(requested_role(request))
            with self._requests, self._lock:
                if not self.arbitration.check_primary(request).can_push:
                    message = f"role '{request.role}' may not push a pipeline"
                    raise TargetError("permission-denied", message)
                self._set_config(request)
        except TargetError as error:
            status.abort(context, error)
        return p4r.SetForwardingPipelineConfigResponse()

    def _set_config(self, request: p4r.SetForwardingPipelineConfigRequest) -> None:
        actions = p4r.SetForwardingPipelineConfigRequest
        match request.action:
            case actions.VERIFY:
                read_config(self.target, request.config)
            case actions.VERIFY_AND_SAVE:
                read_config(self.target, request.config)
                self._saved = request.config
            case actions.VERIFY_AND_COMMIT:
                self._commit(request.config)
            case actions.COMMIT:
                if request.HasField("config"):
                    raise invalid(
                        "COMMIT with a config: expected none, since VERIFY_AND_SAVE saved it"
                    )
                if self._saved is None:
                    message = "COMMIT: expected VERIFY_AND_SAVE before it"
                    raise TargetError("failed-precondition", message)
                self._commit(self._saved)
            case actions.RECONCILE_AND_COMMIT:
                self._reconcile(request.config)
            case _:
                raise invalid(f"action {request.action}: expected one of VERIFY to RECONCILE")

    def _commit(self, config: p4r.ForwardingPipelineConfig) -> None:
        schema = read_config(self.target, config)
        self.target.load(config.p4_device_config.decode())
        self._pipeline = Pipeline(self.target, config, schema)
        self._saved = None

    def _reconcile(self, config: p4r.ForwardingPipelineConfig) -> None:
        """Commits and keeps the state; changes nothing if the state does not fit."""
        before = self._pipeline
        if before is None:
            self._commit(config)
            return
        read_config(self.target, config)
        state = before.state()
        self.target.pause()
        try:
            self._commit(config)
            assert self._pipeline is not None, "it was committed"
            errors = self._pipeline.apply_all(state, True)
            if errors and errors[-1]:
                self._commit(before.config)
                self._pipeline.apply_all(state, False)
                message = f"the state does not fit the new pipeline: {errors[-1]}"
                raise TargetError("failed-precondition", message)
        finally:
            self.target.resume()

    def GetForwardingPipelineConfig(  # noqa: N802
        self, request: p4r.GetForwardingPipelineConfigRequest, context: grpc.ServicerContext
    ) -> p4r.GetForwardingPipelineConfigResponse:
        """Returns the configuration in force, or parts of it."""
        try:
            self.access.of(context).check_read("")
            self.arbitration.check_device(request.device_id)
            config = self._in_force().config
        except TargetError as error:
            status.abort(context, error)
        kinds = p4r.GetForwardingPipelineConfigRequest
        shown = p4r.ForwardingPipelineConfig()
        if config.HasField("cookie"):
            shown.cookie.CopyFrom(config.cookie)
        if request.response_type in (kinds.ALL, kinds.P4INFO_AND_COOKIE):
            shown.p4info.CopyFrom(config.p4info)
        if request.response_type in (kinds.ALL, kinds.DEVICE_CONFIG_AND_COOKIE):
            shown.p4_device_config = config.p4_device_config
        return p4r.GetForwardingPipelineConfigResponse(config=shown)

    def _in_force(self) -> Pipeline:
        if self._pipeline is None:
            raise TargetError("failed-precondition", NO_CONFIG)
        return self._pipeline

    def Write(  # noqa: N802
        self, request: p4r.WriteRequest, context: grpc.ServicerContext
    ) -> p4r.WriteResponse:
        """Applies a batch of updates."""
        try:
            check_batch(request)
            rights = self.access.of(context)
            rights.check_role(requested_role(request))
            with self._requests:
                scope = self.arbitration.check_primary(request)
                pipeline = self._in_force()
                errors = self._write(pipeline, request, scope, rights)
        except TargetError as error:
            status.abort(context, error)
        if any(errors):
            undone = request.atomicity != p4r.WriteRequest.CONTINUE_ON_ERROR
            missing = len(request.updates) - len(errors)
            status.abort_batch(context, errors + [None] * missing, undone)
        return p4r.WriteResponse()

    def _write(
        self, pipeline: Pipeline, request: p4r.WriteRequest, scope: Scope, rights: Rights
    ) -> list[TargetError | None]:
        role = requested_role(request)

        def permit(update: p4r.Update) -> None:
            rights.check_object(role, names_of(update.entity, pipeline.object_names))
            scope.check_write(update, role)

        match request.atomicity:
            case p4r.WriteRequest.CONTINUE_ON_ERROR:
                return pipeline.apply_all(request.updates, False, permit, self._lock)
            case p4r.WriteRequest.ROLLBACK_ON_ERROR:
                return pipeline.apply_all(request.updates, True, permit, self._lock)
            case p4r.WriteRequest.DATAPLANE_ATOMIC:
                self.target.pause()
                try:
                    return pipeline.apply_all(request.updates, True, permit, self._lock)
                finally:
                    self.target.resume()
            case other:
                raise invalid(f"atomicity {other}: expected CONTINUE_ON_ERROR to DATAPLANE_ATOMIC")

    def Read(  # type: ignore[override]  # noqa: N802 (messages may come serialized)
        self, request: p4r.ReadRequest, context: grpc.ServicerContext
    ) -> Iterator[bytes]:
        """Returns the requested entities, in the order of the request, as serialized responses."""
        try:
            check_read(request)
            self.access.of(context).check_read(request.role)
            self.arbitration.check_device(request.device_id)
            with self.reading.one():
                pipeline, scope = self._in_force(), self.arbitration.scope(request.role)

                def check() -> None:
                    if self._pipeline is not pipeline:
                        message = "Read: the pipeline was replaced during the read"
                        raise TargetError("failed-precondition", message)

                yield from stream(self._requests, serialized(pipeline, scope, request), check)
        except TargetError as error:
            status.abort(context, error)

    def StreamChannel(  # noqa: N802
        self, request_iterator: Iterator[p4r.StreamMessageRequest], context: grpc.ServicerContext
    ) -> Iterator[p4r.StreamMessageResponse]:
        """Serves one controller's stream."""
        rights = self.access.of(context)
        try:
            rights.check_stream()
        except TargetError as error:
            status.abort(context, error)
        # A new controller waits for no update.
        with self._counting:
            self._streams += 1
            too_many = self._streams > STREAMS_MAX
        controller = Controller(rights)
        try:
            if too_many:
                message = f"expected at most {STREAMS_MAX} connected controllers"
                status.abort(context, TargetError("resource-exhausted", message))
            reader = threading.Thread(
                target=self._read_stream, args=(controller, request_iterator), daemon=True
            )
            reader.start()
            while (message_ := controller.receive()) is not None:
                yield message_
            if controller.error:
                status.abort(context, controller.error)
        finally:
            self.arbitration.handle_end(controller)
            if controller.lost:
                LOG.warning("a controller did not read; it lost %d messages", controller.lost)
            with self._counting:
                self._streams -= 1

    def _read_stream(
        self, controller: Controller, requests: Iterator[p4r.StreamMessageRequest]
    ) -> None:
        """Handles a controller's messages until the stream ends, breaks or is refused."""
        try:
            for request in requests:
                self._handle_message(controller, request)
            controller.close()
        except TargetError as error:
            controller.close(error)
        except grpc.RpcError:
            controller.close()
        except Exception as error:
            # gRPC raises a bare Exception when the call has ended.
            controller.close()
            if type(error) is not Exception:
                raise

    def _handle_message(self, controller: Controller, request: p4r.StreamMessageRequest) -> None:
        kind = request.WhichOneof("update")
        if kind == "arbitration":
            self.arbitration.handle_update(controller, request.arbitration)
            return
        try:
            if kind in ("packet", "digest_ack") and not self.arbitration.is_primary(controller):
                message = f"{kind}: the controller is not the primary"
                raise TargetError("permission-denied", message)
            match kind:
                case "packet":
                    fields = self._in_force().schema.packet_out
                    self.target.packet_out(packet_out(fields, request.packet))
                case "digest_ack":
                    with self._lock:
                        self._in_force().digests.handle_ack(request.digest_ack)
                case _:
                    raise TargetError("unimplemented", f"stream messages of kind {kind}")
        except TargetError as error:
            shown = p4r.StreamError(
                canonical_code=status.code(error), message=error.message, space=status.SPACE
            )
            match kind:
                case "packet":
                    shown.packet_out.packet_out.CopyFrom(request.packet)
                case "digest_ack":
                    shown.digest_list_ack.digest_list_ack.CopyFrom(request.digest_ack)
                case "other":
                    shown.other.other.CopyFrom(request.other)
            controller.send(p4r.StreamMessageResponse(error=shown))

    # The switch's side

    def poll(self, now_ns: int) -> None:
        """Sends the switch's packets and digests to its controllers. The driver of the switch calls
        it regularly; spurious calls are no-ops.
        """
        for part in range(PARTS_OF_A_POLL):
            if part > 0:
                time.sleep(TURN_S)
            if not self._poll_part(now_ns):
                return

    def _poll_part(self, now_ns: int) -> int:
        """How many packets it sent."""
        if not self._lock.acquire(timeout=LOCK_PATIENCE_S):
            return 0
        try:
            pipeline = self._pipeline
            packets, digests = self.target.take_packet_ins(), self.target.take_digests()
            if pipeline is None:
                return len(packets)
            for name, values in digests:
                pipeline.digests.handle_digest(name, tuple(values), now_ns)
            lists = list(pipeline.digests.poll_lists(now_ns))
            expired = pipeline.tables.expired()
        finally:
            self._lock.release()
        if not (packets or lists or expired):
            return 0
        ins = [packet_in(pipeline.schema.packet_in, packet) for packet in packets]
        for controller, scope in self.arbitration.primaries():
            for packet in ins:
                if scope.wants(packet):
                    controller.send(p4r.StreamMessageResponse(packet=packet))
            for digest in lists:
                if scope.holds(digest.digest_id):
                    controller.send(p4r.StreamMessageResponse(digest=digest))
            idle = [entry for entry in expired if scope.holds(entry.table_id)]
            if idle:
                told = p4r.IdleTimeoutNotification(timestamp=now_ns, table_entry=idle)
                controller.send(p4r.StreamMessageResponse(idle_timeout_notification=told))
        return len(packets)


def check_batch(request: p4r.WriteRequest) -> None:
    """Raises for a batch of too many updates."""
    if len(request.updates) > budgets.UPDATES_OF_A_BATCH:
        what = f"{len(request.updates)} updates: expected at most {budgets.UPDATES_OF_A_BATCH}"
        raise TargetError("resource-exhausted", f"Write: {what}")
