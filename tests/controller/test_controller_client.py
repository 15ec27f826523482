"""The controller's client: its P4Runtime messages, driver, events and command."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import finsy as fy
import pytest
from finsy.p4entity import decode_entity, encode_entities
from finsy.proto import p4r

from narrows.controller.__main__ import limit, main, rate
from narrows.controller.client import SwitchClient
from narrows.controller.drivers.gnmi import GnmiDriver
from narrows.controller.entities import cell_entity, entry_entity, entry_read, session_entity
from narrows.controller.errors import DriverError
from narrows.controller.events import ManagedSwitch, carry_out
from narrows.controller.matches import Exact, Lpm, Range, Ternary
from narrows.controller.objects import (
    CloneSession,
    MeterCell,
    MulticastGroup,
    ProfileGroup,
    ProfileMember,
    RegisterCell,
    Replica,
    ValueSet,
)
from narrows.controller.state import SwitchState, TableEntry
from narrows.schema.plan import EventPlan
from tests.support.controller_state import everything_on
from tests.support.fake_traffic import FakeTraffic, no_counts, served
from tests.support.world import ROOT

P4INFO = ROOT / "p4/build/v1model.p4info.txtpb"


def client() -> SwitchClient:
    """A client that is not connected, with the schema."""
    return SwitchClient("nowhere:1", p4info=P4INFO)


def there_and_back(one: SwitchClient, entity: Any) -> tuple[p4r.Entity, Any]:
    """An entity as sent to the switch, and as read back from that."""
    (message,) = encode_entities([entity], one.switch.p4info)
    return message, decode_entity(message, one.switch.p4info)


def test_every_entry_comes_back_as_it_was_written() -> None:
    one = client()
    for entry in everything_on().entries:
        message, read = there_and_back(one, entry_entity(entry))
        assert message.table_entry.priority == entry.priority
        assert str(entry_read(one.switch.p4info, read)) == str(entry)


def test_an_entry_in_p4runtime_s_bytes() -> None:
    one = client()
    route = TableEntry(
        "NarrowsIngress.forward.ipv4_lpm",
        {"hdr.ipv4.dst_addr": Lpm(0x0A000200, 24)},
        "NarrowsIngress.forward.route",
        {"port": 2, "src_mac": 1, "dst_mac": 0x020000000001},
    )
    message, _ = there_and_back(one, entry_entity(route))
    # Ids from p4/build/v1model.p4info.txtpb; values in the fewest bytes (P4Runtime 8.4).
    assert message.table_entry.table_id == 44912566
    (match,) = message.table_entry.match
    assert (match.field_id, match.lpm.value, match.lpm.prefix_len) == (1, b"\x0a\x00\x02\x00", 24)
    assert [param.value for param in message.table_entry.action.action.params] == [
        b"\x02",
        b"\x01",
        b"\x02\x00\x00\x00\x00\x01",
    ]


def test_a_match_of_anything_is_left_out_and_comes_back() -> None:
    one = client()
    anything = TableEntry(
        "NarrowsIngress.identify_flow.flow",
        {
            "hdr.ipv4.src_addr": Ternary(0, 0),
            "hdr.ipv4.dst_addr": Ternary(0x0A000001, 0xFFFFFFFF),
            "hdr.ipv4.protocol": Ternary(0, 0),
            "meta.src_port": Ternary(0, 0),
            "meta.dst_port": Ternary(80, 0xFFFF),
        },
        "NarrowsIngress.identify_flow.set_flow",
        {"flow_id": 7},
        priority=3,
    )
    message, read = there_and_back(one, entry_entity(anything))
    assert len(message.table_entry.match) == 2
    assert str(entry_read(one.switch.p4info, read)) == str(anything)


def test_sessions_and_cells_in_p4runtime_s_words() -> None:
    one = client()
    replicas = (Replica(3), Replica(4, 9))
    message, _ = there_and_back(one, session_entity(CloneSession(5, replicas, 128)))
    session = message.packet_replication_engine_entry.clone_session_entry
    assert (session.session_id, session.packet_length_bytes) == (5, 128)
    assert [replica.instance for replica in session.replicas] == [0, 9]
    register = next(iter(one.switch.p4info.registers)).name
    message, read = there_and_back(one, cell_entity(RegisterCell(register, 2, 0x1234)))
    assert message.register_entry.data.bitstring == b"\x12\x34"
    assert (read.index, read.data) == (2, 0x1234)


def test_a_state_as_json_comes_back() -> None:
    entry = TableEntry("t", {"e": Exact(1), "r": Range(2, 9), "m": Ternary(4, 6)}, "a", {"p": 3}, 1)
    state = SwitchState(
        (*everything_on().entries, entry),
        (CloneSession(1, (Replica(3), Replica(3, 2)), 96),),
        (RegisterCell("r", 0, 5),),
        (MulticastGroup(7, (Replica(1), Replica(2, 1))),),
        (ProfileMember("p", 1, "a", {"x": 16}),),
        (ProfileGroup("p", 2, ((1, 3), (4, 1))), ProfileGroup("p", 3, ())),
        (MeterCell("m", 0, 1, 2, 3, 4),),
        (ValueSet("v", ({"a": Exact(1), "b": Ternary(2, 3)}, {"": Lpm(0, 0)})),),
    )
    again = SwitchState.from_json(json.loads(json.dumps(state.as_json())))
    assert again == state
    assert again.lines() - everything_on().lines() == {
        "t e=0x1 r=0x2..0x9 m=0x4&&&0x6 priority=1 -> a(p=0x3)",
        "clone session 1 -> 3,3/2 truncate=96",
        "r[0] = 0x5",
        "multicast group 7 -> 1,2/1",
        "p member 1 -> a(x=0x10)",
        "p group 2 -> 1 weight=3, 4 weight=1",
        "p group 3 -> nothing",
        "m[0] = cir=1 cburst=2 pir=3 pburst=4",
        "value set v = {0x0/0, a=0x1 b=0x2&&&0x3}",
    }


@pytest.mark.parametrize(
    "broken", [{"exact": "0x"}, {"lpm": ["0x1"]}, {"lpm": ["0x1", "8"]}, {}, {"any": 1}]
)
def test_a_broken_match_is_refused(broken: Any) -> None:
    content: Any = {"table": "t", "matches": {"k": broken}, "action": "a", "params": {}}
    with pytest.raises(ValueError):
        TableEntry.from_json(content)


@pytest.fixture
def traffic() -> Iterator[tuple[FakeTraffic, str]]:
    target = FakeTraffic()
    with served(target) as address:
        yield target, address


def test_the_gnmi_driver(traffic: tuple[FakeTraffic, str]) -> None:
    target, address = traffic
    first, second = no_counts(), no_counts()
    first |= {"waiting_packets": 3, "waiting_bytes": 4500, "transmitted": 6}
    first |= {"transmitted_bytes": 9000, "depth_max_packets": 4, "depth_mean_packets": 0.5}
    second |= {"transmitted": 4, "transmitted_bytes": 6000, "depth_max_packets": 7}
    second |= {"depth_mean_packets": 1.25, "drops": {"queue-full": 2}}
    target.state[2]["queues"] = [first, second]

    async def run() -> None:
        async with fy.GNMIClient(address) as open_client:
            driver = GnmiDriver(open_client)
            assert (await driver.queue_state(2)).rate_bps is None
            assert await driver.set_rate(2, 5_000_000) == 5_000_000
            assert await driver.set_queue_limit(2, {"bytes": 9000}) == {"bytes": 9000}
            assert await driver.set_queue_limit(2, {"packets": 6}) == {"packets": 6}
            # 1.4999 us is one microsecond, 1.5 us are two, and none is less than one.
            for time_ps, rounded_ps in ((1_499_900, 10**6), (1_500_000, 2 * 10**6), (1, 10**6)):
                in_force = await driver.set_queue_limit(2, {"time_ps": time_ps})
                assert in_force == {"time_ps": rounded_ps}
            state = await driver.queue_state(2)
            assert (state.rate_bps, state.limit) == (5_000_000, {"time_ps": 10**6})
            assert (state.waiting_packets, state.waiting_bytes) == (3, 4500)
            assert (state.transmitted, state.transmitted_bytes, state.dropped) == (10, 15000, 2)
            assert (state.max_packets, state.mean_packets) == (7, 1.75)
            with pytest.raises(DriverError, match=r"OUT_OF_RANGE.*cir = 0"):
                await driver.set_rate(2, 0)
            with pytest.raises(DriverError, match=r"NOT_FOUND.*name=9.*there are 1, 2, 3"):
                await driver.set_rate(9, 1)
            with pytest.raises(DriverError, match="64 bits"):
                await driver.set_rate(2, -1)

    asyncio.run(run())


class FakeSwitch:
    """A driver and a client that record their calls with the times."""

    def __init__(self) -> None:
        self.now = 0
        self.told = list[Any]()

    def now_ps(self) -> int:
        return self.now

    async def wait_until(self, at_ps: int) -> None:
        self.now = max(self.now, at_ps)

    async def set_rate(self, port: int, rate_bps: int) -> int:
        self.told.append((self.now, "rate", port, rate_bps))
        return rate_bps + 1

    async def set_queue_limit(self, port: int, limit: dict[str, int]) -> dict[str, int]:
        self.told.append((self.now, "queue", port, limit))
        return limit

    async def write_entry(self, entry: TableEntry, operation: str) -> None:
        self.told.append((self.now, operation, str(entry)))


def test_events_are_carried_out_in_the_order_of_time() -> None:
    fake: Any = FakeSwitch()
    switches = {"s1": ManagedSwitch(fake, fake)}
    entry = TableEntry("t", {"k": Exact(1)}, "a", {"p": 2})
    events: list[EventPlan] = [
        {"at_ps": 9, "switch": "s1", "entry": entry.as_json(), "op": "modify"},
        {"at_ps": 5, "switch": "s1", "port": 2, "rate_bps": 100},
        {"at_ps": 5, "switch": "s1", "port": 2, "queue": {"packets": 3}},
    ]
    done = asyncio.run(carry_out(events, switches, fake))
    assert fake.told == [
        (5, "rate", 2, 100),
        (5, "queue", 2, {"packets": 3}),
        (9, "modify", "t k=0x1 -> a(p=0x2)"),
    ]
    assert [(one.due_ps, one.in_force) for one in done] == [
        (5, 101),
        (5, {"packets": 3}),
        (9, None),
    ]


def test_events_that_cannot_be_carried_out() -> None:
    fake: Any = FakeSwitch()
    switches = {"s1": ManagedSwitch(fake, fake)}
    good: EventPlan = {"at_ps": 0, "switch": "s1", "port": 2, "rate_bps": 100}
    with pytest.raises(KeyError, match="s9"):
        asyncio.run(carry_out([good, {"at_ps": 1, "switch": "s9"}], switches, fake))
    assert fake.told == []
    with pytest.raises(ValueError, match="expected a port's rate_bps"):
        asyncio.run(carry_out([{"at_ps": 1, "switch": "s1", "port": 2}], switches, fake))


def test_the_command_s_quantities() -> None:
    assert rate("5Mbps") == rate("5 Mb/s") == rate("0.005Gbps") == 5_000_000
    assert limit("100packets") == {"packets": 100}
    assert limit("20kB") == {"bytes": 20_000}
    assert limit("1.5ms") == {"time_ps": 1_500_000_000}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["set-rate", "2", "5Mbit"], "'5Mbit': has the unknown unit"),
        (["set-rate", "2", "0.5bps"], "is not a whole number of bit/s"),
        (["set-queue", "2", "5"], "'5': has no unit; expected a queue limit"),
    ],
)
def test_wrong_arguments(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exited:
        main(["--address", "127.0.0.1:1", *arguments])
    assert exited.value.code == 2
    assert words in capsys.readouterr().err


def test_a_switch_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--address", "127.0.0.1:1", "show"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("controller: 127.0.0.1:1: UNAVAILABLE")
    assert "Traceback" not in error


def test_files_that_are_not_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    missing = str(tmp_path / "no.txtpb")
    assert main(["--address", "127.0.0.1:1", "--p4info", missing, "show"]) == 2
    assert "no.txtpb" in capsys.readouterr().err
    assert main(["--address", "127.0.0.1:1", "--p4info", str(P4INFO), "push"]) == 2
    assert "--json" in capsys.readouterr().err


def test_the_document_s_parts_of_a_state() -> None:
    text = (ROOT / "docs/guide/controller.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| `(\{.*\})`", text, re.M)
    state = SwitchState.from_json({part: [json.loads(one)] for part, one in rows})
    assert len(rows) == 6
    assert state.as_json().keys() - {part for part, _ in rows} == {"entries", "clone_sessions"}
    assert len(state.lines()) == 6
