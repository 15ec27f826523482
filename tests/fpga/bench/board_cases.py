"""What a board must do, as tests that run in the simulator."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import cocotb
from cocotbext.eth import GmiiFrame

from narrows.controller.drivers import fpga_protocol as protocol
from narrows.controller.drivers.fpga_protocol import DIRECTIONS, Board, Direction, Operation, Status
from tests.fpga.bench.board_bench import (
    BOARD_IP,
    BOARD_MAC,
    CLIENT_IP,
    CLIENT_MAC,
    COLLECTOR_PORT,
    CORE_PERIOD_PS,
    PERIOD_PS,
    BoardBench,
    arp,
    udp,
)
from tests.fpga.bench.frames import frame


def good(bench: BoardBench, port: int) -> list[bytes]:
    return [data for _, data in bench.received[port]]


@cocotb.test()
async def frames_pass_in_both_directions(dut: Any) -> None:
    bench = BoardBench(dut)
    await bench.start()
    there = [frame(60 + 61 * n, n) for n in range(6)]
    back = [frame(1518 - 97 * n, n) for n in range(5)]
    bench.send(0, *there)
    bench.send(1, *back)
    await bench.idle(50)
    assert (good(bench, 1), good(bench, 0), bench.bad) == (there, back, 0)


@cocotb.test()
async def back_to_back_frames_leave_at_the_line_rate(dut: Any) -> None:
    bench = BoardBench(dut)
    await bench.start()
    frames = [frame(60, n) for n in range(40)]
    # The receiver's clock is 250 ppm fast: the queue takes the difference.
    bench.send(0, *frames)
    await bench.idle(40)
    assert good(bench, 1) == frames
    times = [at for at, _ in bench.received[1]]
    gaps = {b - a for a, b in pairwise(times)}
    # 60 bytes, check sequence, preamble and gap: 84 cycles.
    assert gaps == {84 * PERIOD_PS}
    assert await bench.read(DIRECTIONS[0] + Direction.LATE) == 0


@cocotb.test()
async def odd_frames_leave_at_the_line_rate(dut: Any) -> None:
    bench = BoardBench(dut)
    await bench.start()
    # The first one keeps the line busy, so that none arrives too late for it.
    lengths = [600] + [61] * 8 + [61 + n % 7 for n in range(12)]
    bench.send(0, *(frame(length, n) for n, length in enumerate(lengths)))
    await bench.idle(12)
    times = [at for at, _ in bench.received[1]]
    assert [len(data) for _, data in bench.received[1]] == lengths
    cycles = [(b - a) // PERIOD_PS for a, b in pairwise(times)]
    # Frames of 61 bytes begin 42.5 cycles of the core apart: the line makes that 85 of its own.
    assert cycles[1] in (85, 86) and set(cycles[2:8]) == {85}
    assert all(found >= length + 24 for found, length in zip(cycles, lengths, strict=False))
    assert 0 <= sum(cycles) - sum(length + 24 for length in lengths[:-1]) <= 3
    assert await bench.read(DIRECTIONS[0] + Direction.LATE) == 0


@cocotb.test()
async def a_rate_spaces_frames_exactly(dut: Any) -> None:
    bench = BoardBench(dut)
    await bench.start()
    await bench.set(0, RATE=123_456_789, BASIS=1)
    frames = [frame(90, n) for n in range(8)]
    bench.send(0, *frames)
    await bench.idle(50)
    assert good(bench, 1) == frames
    times = [at for at, _ in bench.received[1]]
    for n, at in enumerate(times):
        exact = n * 90 * 8 * 10**12 / 123_456_789
        # Both are the first cycle at or after an instant.
        assert abs(at - times[0] - exact) < CORE_PERIOD_PS


@cocotb.test()
async def bad_frames_are_dropped_and_counted(dut: Any) -> None:
    bench = BoardBench(dut)
    await bench.start()
    ok = [frame(60, 1), frame(518, 2), frame(64, 3)]
    raw = bytes(GmiiFrame.from_payload(frame(150, 8)).data)
    bench.send(0, ok[0])
    # A wrong check sequence, an error of the PHY, a few bytes, no byte after the delimiter, a runt,
    # a giant, noise, a wrong preamble, a delimiter that never comes.
    bench.send_raw(0, raw[:-1] + bytes((raw[-1] ^ 1,)))
    bench.send_raw(0, raw, [0] * 100 + [1] + [0] * (len(raw) - 101))
    bench.send_raw(0, raw[:11])
    bench.send_raw(0, raw[:8])
    bench.send(0, ok[1])
    bench.sources[0].send_nowait(GmiiFrame.from_raw_payload(frame(60, 4)[:40]))
    bench.sources[0].send_nowait(GmiiFrame.from_payload(frame(1519, 5)))
    bench.send_raw(0, b"\xa3" * 90)
    bench.send_raw(0, b"\x55" * 90)
    bench.send_raw(0, b"\x55\x55\xd5" + raw[8:60])
    bench.send(0, ok[2])
    await bench.idle(25)
    base = DIRECTIONS[0]
    counts = [await bench.read(base + n) for n in (Direction.ERRORED, Direction.GIANTS)]
    assert good(bench, 1) == ok
    # The raw payload of 40 bytes has no check sequence of its own: an error, as are the others.
    assert counts == [6, 1]


@cocotb.test()
async def runts_and_giants_are_dropped(dut: Any) -> None:
    bench = BoardBench(dut)
    await bench.start()
    bench.sources[0].send_nowait(GmiiFrame.from_payload(frame(60, 1)[:59], min_len=0))
    bench.sources[0].send_nowait(GmiiFrame.from_payload(frame(2000, 1)))
    bench.send(0, frame(100, 2))
    await bench.idle(10)
    base = DIRECTIONS[0]
    names = (Direction.RUNTS, Direction.GIANTS, Direction.ERRORED)
    assert [await bench.read(base + n) for n in names] == [1, 1, 0]
    assert good(bench, 1) == [frame(100, 2)]


@cocotb.test()
async def pauses_go_no_further(dut: Any) -> None:
    bench = BoardBench(dut)
    await bench.start()
    pause = bytes.fromhex("0180c2000001") + CLIENT_MAC + bytes.fromhex("88080001ffff") + bytes(42)
    for port in (0, 1):
        bench.send(port, frame(60, 1), pause, pause, frame(70, 3))
    await bench.idle(10)
    passed = [frame(60, 1), frame(70, 3)]
    assert (good(bench, 1), good(bench, 0)) == (passed, passed)


@cocotb.test()
async def the_board_answers_arp(dut: Any) -> None:
    bench = BoardBench(dut)
    await bench.start()
    other = bytes((192, 168, 78, 67))
    bench.send(0, arp(), arp(other))
    await bench.idle(20)
    # Questions are broadcast, so the other side gets them too.
    assert [data[:42] for data in good(bench, 1)] == [arp(), arp(other)]
    expected = CLIENT_MAC + BOARD_MAC + b"\x08\x06" + bytes.fromhex("0001080006040002")
    expected += BOARD_MAC + BOARD_IP + CLIENT_MAC + CLIENT_IP
    assert [data[:42] for data in bench.arps] == [expected]


@cocotb.test()
async def registers_say_what_the_board_is(dut: Any) -> None:
    bench = BoardBench(dut)
    await bench.start()
    assert (await bench.read(Board.IDENTITY)).to_bytes(8, "big") == b"NARROWS1"
    assert await bench.read(Board.LAYOUT) == 0x02_09_0F_09_0E
    assert await bench.read(Board.OWN_IP) == int.from_bytes(BOARD_IP, "big")
    first, second = await bench.read(Board.NOW), await bench.read(Board.NOW)
    assert 10**6 < second - first < 10**7
    assert good(bench, 1) == []


@cocotb.test()
async def values_out_of_range_change_nothing(dut: Any) -> None:
    bench = BoardBench(dut)
    await bench.start()
    base = DIRECTIONS[1]
    refused = {
        Direction.RATE: (0, 10**9 + 1, 2**64 - 1), Direction.BASIS: (3,),
        Direction.LIMIT_KIND: (3, 2**63), Direction.ECN_ENABLE: (8,),
        Direction.LOSS_THRESHOLD: (2**53 + 1,), Direction.LOSS_SET_STATE: (2,),
        Direction.DELAY: (0, 3_999_999, 10**12 + 1), # This board has no CoDel.
        Direction.CODEL: (1, 4),
        Direction.CODEL_TARGET: (10**13 + 1,), Direction.CODEL_INTERVAL: (999, 10**14 + 1),
        Direction.CODEL_MTU: (10**6 + 1,),
    }  # fmt: skip
    for register, values in refused.items():
        before = await bench.read(base + register)
        for value in values:
            found = await bench.ask(Operation.WRITE, base + register, value)
            assert found.status == Status.RANGE
        assert await bench.read(base + register) == before
    for address, status in (
        (base + Direction.GENERATION, Status.READ_ONLY),
        (base + Direction.COUNTS, Status.READ_ONLY),
        (Board.NOW, Status.READ_ONLY), (0x0300, Status.ADDRESS), (0xFFFF, Status.ADDRESS),
        (base + 0x0F, Status.ADDRESS), (0x000D, Status.ADDRESS),
        (Board.COLLECTOR_IP, Status.RANGE),
    ):  # fmt: skip
        assert (await bench.ask(Operation.WRITE, address, 2**40)).status == status
    assert (await bench.ask(0, base)).status == Status.OPERATION
    assert (await bench.ask(77, base)).status == Status.OPERATION


@cocotb.test()
async def settings_take_effect_together_at_their_instant(dut: Any) -> None:
    bench = BoardBench(dut)
    await bench.start()
    base = DIRECTIONS[0]
    generation = await bench.read(base + Direction.GENERATION)
    await bench.write(base + Direction.RATE, 10**8)
    await bench.write(base + Direction.LIMIT_KIND, 0)
    await bench.write(base + Direction.LIMIT, 2)
    now = await bench.read(Board.NOW)
    late = await bench.ask(Operation.WRITE, base + Direction.COMMIT, now - 1)
    assert late.status == Status.LATE
    await bench.write(base + Direction.COMMIT, now + 25_000_000)
    busy = await bench.ask(Operation.WRITE, base + Direction.RATE, 5)
    assert busy.status == Status.BUSY
    # Before the instant there is no limit and no shaping.
    bench.send(0, *(frame(60, n) for n in range(8)))
    await bench.idle(10)
    assert len(bench.received[1]) == 8
    while await bench.read(base + Direction.COMMIT):
        pass
    assert await bench.read(base + Direction.GENERATION) == generation + 1
    bench.send(0, *(frame(60, n) for n in range(8)))
    await bench.idle(40)
    # One in transmission, two in the queue; one more leaves meanwhile.
    assert len(bench.received[1]) - 8 in (3, 4)
    drops = await bench.read(base + Direction.COUNTS + 16)
    assert drops == 16 - len(bench.received[1])


@cocotb.test()
async def a_commit_far_ahead_can_be_cancelled(dut: Any) -> None:
    bench = BoardBench(dut)
    await bench.start()
    base = DIRECTIONS[0]
    await bench.write(base + Direction.RATE, 10**6)
    await bench.write(base + Direction.COMMIT, 2**62)
    await bench.write(base + Direction.CANCEL, 0)
    assert await bench.read(base + Direction.COMMIT) == 0
    await bench.write(base + Direction.RATE, 10**9)
    bench.send(0, frame(1000, 1))
    await bench.idle(20)
    assert good(bench, 1) == [frame(1000, 1)]


@cocotb.test()
async def a_dead_generator_of_losses_is_refused(dut: Any) -> None:
    bench = BoardBench(dut)
    await bench.start()
    base = DIRECTIONS[0]
    await bench.write(base + Direction.LOSS_SET_STATE, 1)
    found = await bench.ask(Operation.WRITE, base + Direction.COMMIT, 0)
    assert found.status == Status.RANGE
    await bench.set(0, LOSS_STATE_0=1, LOSS_THRESHOLD=2**53)
    bench.send(0, *(frame(60, n) for n in range(3)))
    await bench.idle(10)
    assert good(bench, 1) == []
    assert await bench.read(base + Direction.COUNTS + 16 + 2) == 3


@cocotb.test()
async def reports_bring_the_ledger(dut: Any) -> None:
    bench = BoardBench(dut)
    await bench.start()
    await bench.write(Board.COLLECTOR_MAC, int.from_bytes(CLIENT_MAC, "big"))
    await bench.write(Board.COLLECTOR_IP, int.from_bytes(CLIENT_IP, "big"))
    await bench.write(Board.COLLECTOR_PORT, COLLECTOR_PORT)
    await bench.set(0, RATE=5 * 10**8, LIMIT_KIND=0, LIMIT=2)
    await bench.write(Board.REPORT_ENABLE, 3)
    bench.send(0, *(frame(200, n) for n in range(6)))
    bench.send(1, frame(300, 9))
    await bench.idle(30)
    assert [row.sequence for row in bench.rows] == list(range(len(bench.rows)))
    for direction, base in enumerate(DIRECTIONS):
        rows = [row for row in bench.rows if row.direction == direction]
        assert [row.at_ps for row in rows] == sorted(row.at_ps for row in rows)
        for kind in range(4):
            total = 0
            for reason in range(8):
                total += await bench.read(base + Direction.COUNTS + 8 * kind + reason)
            assert sum(row.kind == kind for row in rows) == total
    drops = [row for row in bench.rows if row.kind == 2]
    assert drops and all(row.reason == 0 and row.counted == 224 for row in drops)
    assert await bench.read(Board.REPORTED) == len(bench.rows)


@cocotb.test()
async def the_boards_own_frames_delay_no_other(dut: Any) -> None:
    bench = BoardBench(dut)
    await bench.start()
    # Towards port 0, where the answers leave: half the line's rate, exactly spaced.
    await bench.set(1, RATE=5 * 10**8)
    bench.send(1, *(frame(600, n) for n in range(6)))
    for _ in range(12):
        await bench.read(Board.NOW)
    await bench.idle(60)
    times = [at for at, _ in bench.received[0]]
    assert len(times) == 6
    gaps = {b - a for a, b in pairwise(times)}
    assert gaps == {2 * 624 * PERIOD_PS}
    assert await bench.read(DIRECTIONS[1] + Direction.LATE) == 0


def spoiled(rng: random.Random) -> bytes:
    """A frame to the board that is not quite a request."""
    payload = bytearray(protocol.request(rng.randint(0, 255), 1, rng.getrandbits(16), 0))
    match rng.randint(0, 6):
        case 0:
            payload[rng.randrange(3)] ^= 1 << rng.randrange(8)
            return udp(bytes(payload))
        case 1:
            return udp(bytes(payload), rng.randint(0, 65535) & ~0x4000)
        case 2:
            return udp(bytes(payload[: rng.randint(0, 19)]) + bytes(20))
        case 3:
            return udp(bytes(payload), version=0x46)
        case 4:
            return udp(bytes(payload), fragment=rng.randint(1, 0x1FFF))
        case 5:
            return udp(bytes(payload), ip=bytes((192, 168, 78, 67)))
        case _:
            return BOARD_MAC + rng.randbytes(rng.randint(54, 150))


@cocotb.test()
async def nothing_sent_to_the_board_stops_the_data_path(dut: Any) -> None:
    rng = random.Random(22)
    bench = BoardBench(dut)
    await bench.start()
    passed = [frame(rng.randint(60, 150), n) for n in range(40)]
    for data in passed:
        # Writes of anything to anywhere but the settings, as the frames must pass; then garbage.
        for _ in range(rng.randint(0, 2)):
            address = rng.choice((rng.getrandbits(16) | 0x0400, rng.randint(0, 255)))
            request = protocol.request(rng.randint(0, 3), 99, address, rng.getrandbits(64))
            bench.send(0, udp(request) if rng.random() < 0.5 else spoiled(rng))
        bench.send(0, data)
    bench.send(1, *passed[:20])
    await bench.idle(20)
    assert good(bench, 1) == passed
    assert good(bench, 0) == passed[:20]
    assert await bench.read(Board.IDENTITY) == int.from_bytes(b"NARROWS1", "big")
    assert await bench.read(Board.MALFORMED) > 10
