"""From a plan to the settings of a board's two directions, within what the board can hold."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from narrows.controller.drivers import kind_and_value
from narrows.controller.drivers.fpga import FpgaDriver, discipline_registers, loss_registers
from narrows.controller.drivers.fpga_protocol import Board
from narrows.controller.matches import Exact
from narrows.controller.stages import LOSS, LOSS_ONE
from narrows.controller.state import TableEntry
from narrows.schema import units
from narrows.schema.units import PS_PER_S
from narrows.testbed.engine import PlanError
from narrows.testbed.targets.switch_plan import SwitchPlan

if TYPE_CHECKING:
    from narrows.schema.plan import EventPlan, Plan
    from narrows.schema.run import JsonObject
    from narrows.schema.switch import PortConfig, QueueLimit

LEAST_DELAY_PERIODS: Final = 250
"""The shortest delay in clock periods (fpga/rtl/board/bottleneck_board.sv)."""
LEAST_SDRAM_DELAY_PERIODS: Final = 375
"""The same of a board with an SDRAM."""
MOST_DELAY_PS: Final = PS_PER_S
FRAME_BYTES: Final = 1518
"""The longest frame without check sequence."""
MASK: Final = (1 << 64) - 1


@dataclass(frozen=True)
class Limits:
    """What a board can do, as it says itself."""

    line_bps: int
    period_ps: int
    room: dict[int, dict[str, int]]
    """The packets and bytes that each port's memory holds."""
    has_codel: bool
    has_sdram: bool

    @property
    def least_delay_ps(self) -> int:
        """The shortest propagation delay."""
        periods = LEAST_SDRAM_DELAY_PERIODS if self.has_sdram else LEAST_DELAY_PERIODS
        return periods * self.period_ps


@dataclass(frozen=True)
class PortSettings:
    """The settings of the direction that leaves by a port."""

    port: int
    rate_bps: int
    counts: str
    queue: QueueLimit
    discipline: JsonObject | str
    loss: float
    loss_state: tuple[int, ...]
    delay_ps: int

    def as_json(self) -> JsonObject:
        """The settings for the run's record."""
        return {key: value for key, value in asdict(self).items() if key != "loss_state"}


@dataclass(frozen=True)
class BoardSettings:
    """The settings of both directions, and the delay that the hosts' links add to the board's."""

    ports: tuple[PortSettings, ...]
    hosts_delay_ps: int


async def limits_of(driver: FpgaDriver, ports: tuple[int, ...]) -> Limits:
    """Asks a board for what it can do."""
    room = {port: await driver.room(port) for port in ports}
    return Limits(
        await driver.read(Board.LINE_RATE),
        await driver.read(Board.PERIOD_PS),
        room,
        await driver.has_codel(),
        await driver.has_sdram(),
    )


def board_settings(plan: Plan, switch_plan: SwitchPlan, limits: Limits) -> BoardSettings:
    """A plan's settings of a board. Raises `PlanError` for what this board cannot do."""
    whole_ps = sum(cable["delay_ps"] for cable in plan["cables"] if "group" in cable["b"])
    if whole_ps < limits.least_delay_ps:
        least = units.format_duration(limits.least_delay_ps)
        shown = units.format_duration(whole_ps)
        raise PlanError(f"bottleneck.delay = {shown}: this board's least delay is {least}")
    ports = [switch_plan.ports[port] for port in limits.room]
    for port in ports:
        check_port(port, switch_plan, limits)
    for event in plan["events"]:
        if (rate_bps := event.get("rate_bps")) is not None:
            check_rate(rate_bps, limits, f"the event at {units.format_duration(event['at_ps'])}")
    on_board_ps = whole_ps
    if whole_ps > MOST_DELAY_PS or not all(
        holds(port, whole_ps, switch_plan, limits) for port in ports
    ):
        on_board_ps = limits.least_delay_ps
    made = tuple(port_settings(plan, switch_plan, port, on_board_ps, limits) for port in ports)
    return BoardSettings(made, whole_ps - on_board_ps)


def check_port(port: PortConfig, switch_plan: SwitchPlan, limits: Limits) -> None:
    """Raises `PlanError` for a rate above the line, a bottleneck's queue above the memory or of
    more packets than the board has entries for, and CoDel on a board that lacks it.
    """
    number = port["port"]
    discipline = port.get("discipline", "drop-tail")
    name = discipline if isinstance(discipline, str) else discipline["name"]
    if name == "codel" and not limits.has_codel:
        raise PlanError(f"port {number}: discipline codel: this board was built without it")
    if port["rate_bps"] is not None:
        check_rate(port["rate_bps"], limits, f"port {number}")
    if number == switch_plan.port:
        check_queue(port, switch_plan, limits.room[number])


def check_queue(port: PortConfig, switch_plan: SwitchPlan, room: dict[str, int]) -> None:
    """Raises `PlanError` for a queue that a port has no room for."""
    most = queue_bytes(port, switch_plan)
    packets = -(-most // switch_plan.packet_bytes)
    kind, value = kind_and_value(port["queue"])
    if most > room["bytes"] - FRAME_BYTES:
        left = room["bytes"] - FRAME_BYTES
        what = f"takes {most} bytes; this board's memory holds {left} besides a frame"
    elif packets > room["packets"]:
        what = f"holds {packets} full packets; this board's holds {room['packets']}"
    else:
        return
    where = f"port {port['port']}"
    raise PlanError(f"{where}: a queue of {value} {kind} {what}: use a shorter queue")


def check_rate(rate_bps: int, limits: Limits, where: str) -> None:
    """Raises `PlanError` for a rate above the line."""
    if rate_bps > limits.line_bps:
        line = units.format_rate(limits.line_bps)
        shown = units.format_rate(rate_bps)
        raise PlanError(f"{where}: rate = {shown}: above {line}, this board's line")


def queue_bytes(port: PortConfig, switch_plan: SwitchPlan) -> int:
    """The memory that a port's full queue takes, of full packets."""
    match kind_and_value(port["queue"]):
        case "packets", value:
            return value * switch_plan.packet_bytes
        case "time_ps", value:
            return value * (port["rate_bps"] or 0) // (8 * PS_PER_S)
        case _, value:
            return value


def holds(port: PortConfig, delay_ps: int, switch_plan: SwitchPlan, limits: Limits) -> bool:
    """Whether a port's memory holds what is on its way besides a full queue, and its delay line
    those packets. The queue towards the senders holds acknowledgements; those that do not fit are
    drops, which void the run.
    """
    on_the_way = (port["rate_bps"] or limits.line_bps) * delay_ps // (8 * PS_PER_S)
    queued = queue_bytes(port, switch_plan) if port["port"] == switch_plan.port else 0
    room = limits.room[port["port"]]
    # One entry of the delay line stays free.
    fits = on_the_way // switch_plan.packet_bytes + 1 < room["packets"]
    return fits and queued + on_the_way + FRAME_BYTES <= room["bytes"]


def port_settings(
    plan: Plan, switch_plan: SwitchPlan, port: PortConfig, delay_ps: int, limits: Limits
) -> PortSettings:
    """The settings of one direction. A queue towards the senders has at most the memory."""
    number, room = port["port"], limits.room[port["port"]]
    kind, value = kind_and_value(port["queue"])
    clipped: QueueLimit = port["queue"]
    if value > room.get(kind, value):
        clipped = {"packets": room["packets"]} if kind == "packets" else {"bytes": room["bytes"]}
    return PortSettings(
        number,
        limits.line_bps if port["rate_bps"] is None else port["rate_bps"],
        port["counts"],
        clipped,
        port.get("discipline", "drop-tail"),  # type: ignore[arg-type]
        loss_of(switch_plan, number),
        generator_state(plan["seed"], f"{switch_plan.name} port {number} loss"),
        delay_ps,
    )


def loss_of(switch_plan: SwitchPlan, port: int) -> float:
    """The probability of random loss towards a port, exact."""
    for entry in switch_plan.switch["entries"]:
        found = TableEntry.from_json(entry)
        if found.table == LOSS.table and Exact(port) in found.matches.values():
            return found.params["loss"] / LOSS_ONE
    return 0.0


def generator_state(seed: int, name: str) -> tuple[int, ...]:
    """The state of the generator of a run's component, as `Rng::for_component` of common/."""
    state = 0xCBF2_9CE4_8422_2325
    for byte in name.encode():
        state = (state ^ byte) * 0x0100_0000_01B3 & MASK
    state ^= seed
    words = []
    for _ in range(4):
        # SplitMix64 (Steele, Lea, Flood, 2014).
        state = state + 0x9E37_79B9_7F4A_7C15 & MASK
        word = (state ^ state >> 30) * 0xBF58_476D_1CE4_E5B9 & MASK
        word = (word ^ word >> 27) * 0x94D0_49BB_1331_11EB & MASK
        words.append(word ^ word >> 31)
    return tuple(words)


async def apply(driver: FpgaDriver, port: PortSettings) -> JsonObject:
    """Gives a port its settings, by the verbs of every driver. Returns what is in force."""
    number = port.port
    await driver.cancel(number)
    await driver.set_basis(number, port.counts)
    rate_bps = await driver.set_rate(number, port.rate_bps)
    await driver.set_queue_limit(number, port.queue)
    await driver.set_discipline(number, port.discipline)  # type: ignore[arg-type]
    await driver.set_loss(number, port.loss, port.loss_state)
    await driver.set_delay(number, port.delay_ps)
    return port.as_json() | {"in_force_bps": rate_bps}


async def registers(driver: FpgaDriver, event: EventPlan) -> tuple[int, dict[str, int]]:
    """An event's port, and the registers that it changes. Raises `PlanError` for another event."""
    match event:
        case {"port": int(port), "rate_bps": int(rate_bps)}:
            return port, {"RATE": rate_bps}
        case {"port": int(port), "queue": limit} if limit is not None:
            return port, await driver.limit_registers(port, limit)
        case {"port": int(port), "discipline": discipline} if discipline is not None:
            return port, discipline_registers(port, discipline)
        case {"entry": entry, "op": operation} if entry is not None:
            found = TableEntry.from_json(entry)
            [port] = [match.value for match in found.matches.values() if isinstance(match, Exact)]
            if found.table == LOSS.table:
                lost = 0 if operation == "delete" else found.params["loss"] / LOSS_ONE
                return port, loss_registers(port, lost)
    at = units.format_duration(event["at_ps"])
    raise PlanError(f"the event at {at}: a board changes rate, queue, discipline and loss only")
