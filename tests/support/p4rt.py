"""Shared parts of the P4Runtime server's tests: a server in this process, and a bare client."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import finsy as fy
import grpc
from finsy.proto import U128, p4r, p4r_grpc, rpc_status
from google.protobuf import text_format

from narrows.switch.server.p4runtime.service import P4RuntimeService
from narrows.switch.server.serve import serve
from narrows.testbed import engine
from tests.support.world import ROOT

DEVICE = 3
CPU = 255
PROGRAMS = ROOT / "switch/tests/programs"
CONTROL = (PROGRAMS / "control.p4info.txtpb", PROGRAMS / "control.json")
BOTTLENECK = (ROOT / "p4/build/v1model.p4info.txtpb", ROOT / "p4/build/v1model.json")


class Served:
    """A switch with ports 1, 2, 3 and 255 (the controllers'), its server, and its clock."""

    def __init__(self) -> None:
        limits = {"queue": {"packets": 64}, "counts": "frame"}
        ports = [{"port": port, **limits} for port in (1, 2, 3, CPU)]
        config = {"switch": {"ports": ports, "timestamp_unit": "us"}, "cpu_port": CPU}
        self.switch: Any = engine.Switch(json.dumps(config), 1)
        self.service = P4RuntimeService(self.switch, DEVICE)
        self.server, port = serve("127.0.0.1:0", [self.service.add_to])
        self.address = f"127.0.0.1:{port}"
        self._stop = threading.Event()
        self._poller = threading.Thread(target=self._poll)
        self._poller.start()

    def _poll(self) -> None:
        while not self._stop.wait(0.01):
            self.service.poll(time.monotonic_ns())

    def send(self, port: int, packet: bytes) -> list[tuple[int, bytes]]:
        """A packet arrives 1 ms after the previous one; returns the output by port."""
        now_ps = self.switch.now_ps() + 10**9
        self.switch.handle_packet(port, packet, now_ps)
        return [(sent[0], sent[3]) for sent in self.switch.run_until(now_ps)]

    def finsy(self, files: tuple[Path, Path], **options: Any) -> fy.Switch:
        """An unmodified client that pushes the program."""
        p4info, p4blob = files
        given = fy.SwitchOptions(device_id=DEVICE, p4info=p4info, p4blob=p4blob, **options)
        return fy.Switch("sw", self.address, given)

    def close(self) -> None:
        self._stop.set()
        self._poller.join()
        self.server.stop(grace=0).wait()


def config(files: tuple[Path, Path]) -> p4r.ForwardingPipelineConfig:
    """A pipeline configuration of a P4Info and a JSON."""
    made = p4r.ForwardingPipelineConfig(p4_device_config=files[1].read_bytes())
    text_format.Parse(files[0].read_text(), made.p4info)
    return made


class Client:
    """A controller that sends exactly the messages it is given."""

    def __init__(
        self,
        address: str,
        election_id: int = 1,
        role: str = "",
        credentials: grpc.ChannelCredentials | None = None,
    ) -> None:
        """In plaintext, or by TLS with the credentials."""
        self.channel = (
            grpc.secure_channel(address, credentials)
            if credentials
            else grpc.insecure_channel(address)
        )
        self.stub: Any = p4r_grpc.P4RuntimeStub(self.channel)
        self.election_id, self.role = election_id, role
        self._requests: queue.Queue[p4r.StreamMessageRequest | None] = queue.Queue()
        self.stream = self.stub.StreamChannel(iter(self._requests.get, None), timeout=60)

    def say(self, message: p4r.StreamMessageRequest) -> None:
        self._requests.put(message)

    def hear(self) -> p4r.StreamMessageResponse:
        heard: p4r.StreamMessageResponse = next(self.stream)
        return heard

    def arbitrate(self, device: int = DEVICE) -> p4r.MasterArbitrationUpdate:
        """Requests its role; returns the answer."""
        update = p4r.MasterArbitrationUpdate(
            device_id=device, election_id=U128.encode(self.election_id)
        )
        if self.role:
            update.role.name = self.role
        self.say(p4r.StreamMessageRequest(arbitration=update))
        return self.hear().arbitration

    def push(
        self,
        files: tuple[Path, Path],
        action: int = p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
    ) -> None:
        self.set_config(config(files), action)

    def set_config(self, made: p4r.ForwardingPipelineConfig | None, action: int) -> None:
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=DEVICE, election_id=U128.encode(self.election_id), role=self.role
        )
        request.action = action  # type: ignore[assignment]
        if made is not None:
            request.config.CopyFrom(made)
        self.stub.SetForwardingPipelineConfig(request)

    def write(self, updates: Iterable[p4r.Update], atomicity: int = 0) -> None:
        request = p4r.WriteRequest(
            device_id=DEVICE, election_id=U128.encode(self.election_id), role=self.role
        )
        request.atomicity = atomicity  # type: ignore[assignment]
        request.updates.extend(updates)
        self.stub.Write(request)

    def read(self, *entities: p4r.Entity) -> list[p4r.Entity]:
        request = p4r.ReadRequest(device_id=DEVICE, entities=entities)
        return [entity for response in self.stub.Read(request) for entity in response.entities]

    def close(self) -> None:
        self._requests.put(None)
        self.channel.close()


@contextmanager
def client(address: str, election_id: int = 1, role: str = "") -> Iterator[Client]:
    """A temporary controller."""
    made = Client(address, election_id, role)
    try:
        yield made
    finally:
        made.close()


def errors(refused: grpc.RpcError) -> list[tuple[str, str]]:
    """The code and message of each update of a refused Write."""
    metadata = dict(refused.trailing_metadata())
    status = rpc_status.Status.FromString(metadata["grpc-status-details-bin"])
    names = {code.value[0]: code.name for code in grpc.StatusCode}
    found = []
    for detail in status.details:
        error = p4r.Error()
        assert detail.Unpack(error)
        found.append((names[error.canonical_code], error.message))
    return found
