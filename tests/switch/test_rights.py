"""Certificates bound to rights: who may take which role, write which object, push, use gNMI."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from finsy.proto import gnmi, gnmi_grpc, p4r

from narrows.switch.server.gnmi.service import GnmiService
from narrows.switch.server.p4runtime.service import P4RuntimeService
from narrows.switch.server.serve import Tls, serve
from narrows.testbed import engine
from narrows.testbed.cli.main import main
from narrows.testbed.tools.switch.clients import read_access
from tests.p4runtime.messages import FORWARD, MAC, TO_2, entry
from tests.support.p4rt import CONTROL, DEVICE, Client
from tests.support.switch_command import Running, start
from tests.switch.certificates import credentials, key_pair, needs_openssl

__all__ = ["start"]

pytestmark = needs_openssl

CLIENTS = """
[[client]]
name = "operator.test"
roles = ["*"]
push = true
gnmi = "write"

[[client]]
name = "routes"
roles = ["routes"]
objects = ["acl", "packet-replication"]
gnmi = "read"

[[client]]
name = "spiffe://lab/reader"
read = true
"""
ALTERNATIVES = {
    "operator": "DNS:other.test,DNS:operator.test", "routes": None,
    "reader": "URI:spiffe://lab/reader", "unknown": None, "operator.test": "DNS:evil.test",
}  # fmt: skip
"""Alternative names by common name."""

Connect = Callable[..., Client]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("keys")
    key_pair(at, "authority", None)
    key_pair(at, "switch", "authority")
    for name, alternative in ALTERNATIVES.items():
        key_pair(at, name, "authority", alternative)
    (at / "clients.toml").write_text(CLIENTS)
    return at


@pytest.fixture
def connect(keys: Path) -> Iterator[Connect]:
    """Connects to a switch as the owner of a certificate."""
    ports = [{"port": port, "queue": {"packets": 64}, "counts": "frame"} for port in (1, 2, 3)]
    config = {"switch": {"ports": ports, "timestamp_unit": "us"}}
    target = engine.Switch(json.dumps(config), 1)
    access = read_access(keys / "clients.toml")
    services = [
        P4RuntimeService(target, DEVICE, access=access).add_to,
        GnmiService(target, access).add_to,
    ]
    tls = Tls.read(keys / "switch.pem", keys / "switch.key", keys / "authority.pem")
    server, port = serve("127.0.0.1:0", services, tls)
    made = list[Client]()

    def begin(name: str, role: str = "", election_id: int = 1) -> Client:
        made.append(Client(f"127.0.0.1:{port}", election_id, role, credentials(keys, name)))
        return made[-1]

    yield begin
    for client in made:
        client.close()
    server.stop(grace=0).wait()


def refused(call: Callable[[], object]) -> str:
    """What a call that must be refused is told."""
    with pytest.raises(grpc.RpcError) as error:
        call()
    assert error.value.code() == grpc.StatusCode.PERMISSION_DENIED
    return str(error.value.details())


@pytest.fixture
def pushed(connect: Connect) -> Client:
    """The operator, after its push."""
    operator = connect("operator")
    operator.arbitrate()
    operator.push(CONTROL)
    return operator


def empty_set() -> gnmi.SetRequest:
    path = gnmi.Path(elem=[gnmi.PathElem(name="qos")])
    return gnmi.SetRequest(update=[gnmi.Update(path=path, val=gnmi.TypedValue(json_val=b"{}"))])


def test_all_rights_are_the_operators(connect: Connect, pushed: Client) -> None:
    pushed.write([entry(pushed, FORWARD, match=[MAC], **TO_2)])
    assert len(pushed.read(p4r.Entity(table_entry=p4r.TableEntry()))) > 0
    other = connect("operator", role="anything")
    assert other.arbitrate().status.code == grpc.StatusCode.OK.value[0]
    stub = gnmi_grpc.gNMIStub(pushed.channel)
    assert stub.Get(gnmi.GetRequest(encoding=gnmi.PROTO)).notification
    assert len(stub.Set(empty_set()).response) == 1


def test_a_role_that_a_certificate_lacks(connect: Connect, pushed: Client) -> None:
    expected = "certificate 'routes' may not use role '{}': expected 'routes'"
    assert refused(connect("routes").arbitrate) == expected.format("")
    assert refused(connect("routes", role="x").arbitrate) == expected.format("x")
    # The primary's election id is no secret: the certificate counts in each call.
    thief = connect("routes")
    assert refused(lambda: thief.write([])) == expected.format("")
    assert refused(lambda: thief.push(CONTROL)) == expected.format("")


def test_a_role_does_not_bring_a_push(connect: Connect, pushed: Client) -> None:
    routes = connect("routes", role="routes")
    routes.arbitrate()
    said = "certificate 'routes' may not push a pipeline in role 'routes': expected push = true"
    assert refused(lambda: routes.push(CONTROL)) == said


def test_objects_limit_what_a_role_writes(connect: Connect, pushed: Client) -> None:
    routes = connect("routes", role="routes")
    routes.arbitrate()
    group = p4r.Update(type=p4r.Update.INSERT)
    group.entity.packet_replication_engine_entry.multicast_group_entry.multicast_group_id = 1
    routes.write([group])
    with pytest.raises(grpc.RpcError) as error:
        routes.write([entry(pushed, FORWARD, match=[MAC], **TO_2)])
    said = "certificate 'routes' may not write 'Receive.forward' in role 'routes': expected"
    assert said in error.value.details()
    assert len(routes.read(p4r.Entity(table_entry=p4r.TableEntry()))) > 0


def test_a_reader_only_reads(connect: Connect, pushed: Client) -> None:
    reader = connect("reader")
    assert len(reader.read(p4r.Entity(table_entry=p4r.TableEntry()))) > 0
    what = "certificate 'spiffe://lab/reader' may not open a stream: expected a role"
    assert refused(reader.arbitrate) == what
    stub = gnmi_grpc.gNMIStub(reader.channel)
    assert "may not read with gNMI" in refused(lambda: stub.Get(gnmi.GetRequest()))


@pytest.mark.parametrize(
    ("name", "shown"), [("unknown", "unknown"), ("operator.test", "evil.test")]
)
def test_an_unlisted_certificate_may_nothing(
    connect: Connect, pushed: Client, name: str, shown: str
) -> None:
    """The common name of a certificate with alternative names does not count."""
    client = connect(name)
    stub, gnmi_stub = client.stub, gnmi_grpc.gNMIStub(client.channel)
    any_table = p4r.Entity(table_entry=p4r.TableEntry())
    calls: list[Callable[[], object]] = [
        client.arbitrate,
        lambda: client.write([]),
        lambda: client.push(CONTROL),
        lambda: client.read(any_table),
        lambda: stub.GetForwardingPipelineConfig(
            p4r.GetForwardingPipelineConfigRequest(device_id=DEVICE)
        ),
        lambda: gnmi_stub.Get(gnmi.GetRequest()),
        lambda: gnmi_stub.Set(gnmi.SetRequest()),
        lambda: list(gnmi_stub.Subscribe(iter([gnmi.SubscribeRequest()]))),
    ]
    for call in calls:
        assert refused(call).startswith(f"certificate '{shown}' may not ")


def test_a_silent_stream_is_refused_without_a_role(connect: Connect, pushed: Client) -> None:
    """64 of them would keep controllers out."""
    said = "certificate 'unknown' may not open a stream: expected a role"
    assert refused(lambda: connect("unknown").hear()) == said


def test_gnmi_may_be_for_reading_alone(connect: Connect, pushed: Client) -> None:
    stub = gnmi_grpc.gNMIStub(connect("routes").channel)
    assert stub.Get(gnmi.GetRequest(encoding=gnmi.PROTO)).notification
    said = "certificate 'routes' may not write with gNMI: expected gnmi = \"write\""
    assert refused(lambda: stub.Set(empty_set())) == said


def test_the_switch_reads_its_clients_file(keys: Path, start: Callable[..., Running]) -> None:
    running = start(
        "--no-p4", "--use-files", "600", "--grpc-server-ssl", "--grpc-server-with-client-auth",
        "--grpc-server-cert", keys / "switch.pem", "--grpc-server-key", keys / "switch.key",
        "--grpc-server-cacert", keys / "authority.pem",
        "--grpc-server-clients", keys / "clients.toml",
    )  # fmt: skip
    unknown = Client(running.address, credentials=credentials(keys, "unknown"))
    assert "certificate 'unknown'" in refused(lambda: unknown.arbitrate(device=0))
    unknown.close()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[client]]\nroles = []", "client.0.name: is missing"),
        ('[[client]]\nname = "a"\nrights = []', "client.0.rights: is an unknown key"),
        ('[[client]]\nname = "a"\ngnmi = "all"', "client.0.gnmi"),
        ('[[client]]\nname = "a"\n[[client]]\nname = "a"', "is repeated"),
    ],
)
def test_a_wrong_clients_file_is_named(
    keys: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = keys / "wrong.toml"
    file.write_text(text)
    tls = ["--grpc-server-ssl", "--grpc-server-with-client-auth"]
    for option, name in (
        ("cert", "switch.pem"),
        ("key", "switch.key"),
        ("cacert", "authority.pem"),
    ):
        tls += [f"--grpc-server-{option}", str(keys / name)]
    assert main(["switch", "--no-p4", *tls, "--grpc-server-clients", str(file)]) == 2
    said = capsys.readouterr().err
    assert str(file) in said and message in said
