"""The engine: runs, switches, connections and the applications behind sockets.

The extension module is built from `engine/src/python*.rs`; a test compares its names with these.
Times are picoseconds since the run began, unless a name says otherwise.
"""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Literal

from narrows.schema.flow import FlowConfig
from narrows.schema.plan import QueueShare
from narrows.schema.profile import ProfileRecord
from narrows.schema.records import (
    AgentRecord,
    DisciplineRecord,
    QueueReason,
    RecoveryRecord,
    SenderRecord,
    SinkRecord,
    VariantRecord,
    WorkloadRecord,
)
from narrows.schema.run import WatchView
from narrows.schema.summary import BottleneckSummary, Generated, Instrument, Progress, Summary
from narrows.schema.switch import (
    CloneSession,
    DefaultAction,
    DisciplineConfig,
    Match,
    ProfileGroup,
    ProfileMember,
    QueueLimit,
    Replica,
    TableEntry,
)
from narrows.switch.server.target import (
    Choice,
    MeterConfig,
    PortState,
    ProfileKey,
)

class PlanError(ValueError):
    """The plan, or something it names, is wrong."""

class DeviceError(RuntimeError):
    """DPDK or one of its devices refused."""

class RunError(RuntimeError):
    """A run failed."""

class Cancelled(RuntimeError):
    """The caller stopped the run."""

def version() -> str:
    """The engine's version."""

def write_table(parquet: bytes, path: str | PathLike[str]) -> None:
    """Writes a Parquet file's rows to `path`, with a CRC-32 in each page's header. Raises OSError
    if `parquet` is no such table, has lists, or can't be written.
    """

def write_columns(
    columns: Sequence[tuple[str, str, Sequence[bool | int | float | str | None]]],
    path: str | PathLike[str],
) -> None:
    """Writes a table to `path`, with a CRC-32 in each page's header. Each column is its name, its
    type ("flag", "integer", "float", "text") and its values. Raises OSError if it can't be
    written or a column is shorter than the first, TypeError or OverflowError for a value of another
    type.
    """

def dpdk_version() -> str | None:
    """libdpdk's version, or None where the engine was built without it."""

def keep_capabilities(kept: int) -> None:
    """Has every thread of this process give up all capabilities but those in `kept`, bit by number.
    Raises OSError.
    """

def end_in_time(close_s: float, end_s: float) -> tuple[int, int]:
    """Waits for a byte, passes it on, and ends the process `end_s` later with status 0, whatever
    Python's threads do. `close_s` after the byte it begins to close the tables that are open.
    Returns two file descriptors: the one to write the byte to, and the one to read it from. Raises
    OSError.
    """

def variants() -> list[VariantRecord]:
    """Every congestion-control variant."""

def senders() -> list[SenderRecord]:
    """Every sender of datagrams, in the words of a variant."""

def disciplines() -> list[DisciplineRecord]:
    """Every queue discipline."""

def drop_reasons() -> list[QueueReason]:
    """Every reason for which a port drops packets."""

def mark_reasons() -> list[QueueReason]:
    """Every reason for which a port marks packets."""

def recoveries() -> list[RecoveryRecord]:
    """Every loss recovery."""

def profiles() -> list[ProfileRecord]:
    """Every profile: what its sources differ in."""

def workloads() -> list[WorkloadRecord]:
    """Every workload."""

def agents() -> list[AgentRecord]:
    """Every source of ns-2 that can be named, and what it stands for."""

def sinks() -> list[SinkRecord]:
    """Every sink of ns-2 that can be named."""

def run(
    plan_json: str,
    out_dir: str | PathLike[str],
    progress: Callable[[Progress], object] | None = None,
    switches: Mapping[str, Switch] | None = None,
    cores: str | PathLike[str] | None = None,
    watch: Watch | None = None,
    threads: int = 1,
) -> Summary:
    """Runs a plan (JSON text) and writes its tables and summary.json into `out_dir`.

    `progress` is called a few times a second, and stops the run by returning False. `switches` has
    a `Switch` for some or all of the plan's switches by name, with program and state; the run takes
    it, and writes nothing of the plan's to it. `cores` is the path of Verilator's library of the
    hardware bottleneck, which then is at each port with a rate. `watch` sees the run and changes
    its ports. The run uses at most so many `threads`, with the same results. Raises PlanError,
    RunError or Cancelled.
    """

def run_real_time(
    plan_json: str,
    out_dir: str | PathLike[str],
    setup_json: str,
    progress: Callable[[Progress], bool | int] | None = None,
    switches: Mapping[str, Switch] | None = None,
    sockets: Sockets | None = None,
    devices: Mapping[str, str] | None = None,
    meet: Callable[[int], tuple[int, int] | None] | None = None,
    watch: Watch | None = None,
) -> Summary:
    """Runs a plan in real time on DPDK ports; otherwise as `run`, and raises DeviceError too.

    `progress` may also return a time in picoseconds: the run ended then. Hosts with `sockets` have
    ports of their own, and who drives these sockets. With `devices`, device strings by the names of
    wires, only what these wires end at is in this process. `meet` is called with the clock's rate
    when every wire has a link, and returns when the clock begins, in nanoseconds of
    CLOCK_MONOTONIC_RAW, and its rate; or None for at once.
    """

def application_messages(
    plan_json: str, until_ps: int, most: int = ...
) -> list[tuple[int, int, int]]:
    """What the applications of a plan (JSON text) write until a time, as their hosts would: flow,
    picoseconds and bytes, flow by flow, of each flow the first `most`. Raises PlanError.
    """

def generate(
    plan_json: str,
    streams: Sequence[tuple[bytes, int, Sequence[int]]],
    device: str,
    setup_json: str,
    until_ps: int,
    most: int = ...,
    progress: Callable[[Progress], bool | int] | None = None,
) -> Generated:
    """Sends what the plan's applications write before `until_ps` as UDP packets by a DPDK device,
    the first `most` of them.

    `streams`: headers, bytes of payload, and the flows' numbers of each. Raises PlanError,
    DeviceError, RunError or Cancelled.
    """

def stf(program_json: str, test: str) -> list[str]:
    """Runs an STF test on a program (bmv2 JSON) in virtual time. Returns what differs, readable.

    Raises ValueError for a program that is refused and for statements that can't be carried out.
    """

def stf_sent(program_json: str, test: str) -> dict[int, list[bytes]]:
    """The packets that leave by each port in an STF test, whatever it expects.

    Raises ValueError as `stf` does.
    """

class Switch:
    """A switch with ports, without a program until `load`: a `Target` of the switch's servers.

    Methods may raise `narrows.switch.server.target.TargetError`.
    """

    def __new__(cls, config_json: str, seed: int) -> Switch:
        """`config_json`: a `LiveSwitchConfig`. Raises ValueError."""
    def handle_packet(self, port: int, packet: bytes, now_ps: int) -> None:
        """A packet arrives at a port."""
    def run_until(self, now_ps: int) -> list[tuple[int, int, int, bytes]]:
        """Goes on to `now_ps`. Returns the transmissions that began, the CPU port's aside: port,
        start and end in picoseconds, bytes.
        """
    def poll_timeout_ps(self) -> int | None:
        """When it wants `run_until` next, if packets wait."""
    def now_ps(self) -> int: ...
    def collect_log(self, collect: bool) -> None:
        """Begins or ends the collection of the program's log messages."""
    def take_log(self) -> list[str]:
        """The messages collected since the last call."""
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def check(self, program_json: str) -> None: ...
    def load(self, program_json: str) -> None: ...
    def statistics(self) -> dict[str, int]: ...
    def ports(self) -> list[int]: ...
    def queues(self) -> dict[int, int]: ...
    def port_state(self, port: int) -> PortState: ...
    def set_rate(self, port: int, rate_bps: int) -> None: ...
    def set_queue_limit(self, port: int, limit: QueueLimit) -> None: ...
    def set_discipline(self, port: int, discipline: DisciplineConfig) -> None: ...
    def set_share(self, port: int, share: QueueShare) -> None: ...
    def disciplines(self) -> list[DisciplineRecord]: ...
    def drop_reasons(self) -> list[QueueReason]: ...
    def mark_reasons(self) -> list[QueueReason]: ...
    def insert_entry(self, entry: TableEntry) -> None: ...
    def modify_entry(self, entry: TableEntry) -> None: ...
    def delete_entry(self, entry: TableEntry) -> None: ...
    def entry(self, entry: TableEntry) -> tuple[TableEntry, int, int] | None: ...
    def entries_from(
        self, table: str, first: int
    ) -> tuple[list[tuple[TableEntry, int, int]], int | None]: ...
    def set_entry_count(self, entry: TableEntry, packets: int, octets: int) -> None: ...
    def default_action(self, table: str) -> Choice | None: ...
    def set_default_action(self, default: DefaultAction) -> None: ...
    def reset_default_action(self, table: str) -> None: ...
    def default_count(self, table: str) -> tuple[int, int]: ...
    def set_default_count(self, table: str, packets: int, octets: int) -> None: ...
    def read_counters(self, name: str, first: int, count: int) -> list[tuple[int, int]]: ...
    def write_counter(self, name: str, index: int, packets: int, octets: int) -> None: ...
    def configure_meter(self, name: str, index: int, config: MeterConfig | None) -> None: ...
    def configure_entry_meter(self, entry: TableEntry, config: MeterConfig | None) -> None: ...
    def read_registers(self, name: str, first: int, count: int) -> list[str]: ...
    def write_register(self, name: str, index: int, value: str) -> None: ...
    def set_clone_session(self, session: CloneSession) -> None: ...
    def set_multicast_group(self, group: int, replicas: list[Replica]) -> None: ...
    def set_value_set(self, name: str, members: list[list[Match | None]]) -> None: ...
    def write_profile(
        self,
        operation: Literal["insert", "modify", "delete"],
        kind: Literal["member", "group"],
        given: ProfileMember | ProfileGroup | ProfileKey,
    ) -> None: ...
    def set_idle_timeout(self, entry: TableEntry, timeout_ns: int | None) -> None: ...
    def idle_ns(self, entry: TableEntry) -> tuple[int | None, int]: ...
    def take_expired(self) -> list[TableEntry]: ...
    def take_digests(self) -> list[tuple[str, list[str]]]: ...
    def take_packet_ins(self) -> list[bytes]: ...
    def packet_out(self, packet: bytes) -> None: ...

class Ledger:
    """The queue events of switches that run without a plan, from its making until `finish`."""

    def __new__(cls, out_dir: str, switches: Sequence[tuple[str, Switch]]) -> Ledger:
        """Makes queue.parquet in the directory, for the switches of these names, each with
        `record_queue` in its configuration. Raises RunError.
        """
    def take(self) -> None:
        """Takes the rows since the last call; to be called several times a second. Raises RunError
        if the table cannot be written any more.
        """
    def finish(self) -> list[BottleneckSummary] | None:
        """Takes the last rows and closes the table. Returns each port's figures and counts; a
        second call returns None. Raises RunError.
        """

class Watch:
    """A watcher of one run, on another thread than the run's."""

    def __new__(cls, pace: float | None = None) -> Watch:
        """With `pace`, a run in virtual time takes its own time divided by `pace`."""
    def view(self) -> WatchView | None:
        """The run now; None if it has not begun, or has ended."""
    def set_rate(self, switch: str, port: int, rate_bps: int) -> None:
        """Raises PlanError if the switch refuses, RunError if the run is not going on."""
    def set_queue_limit(self, switch: str, port: int, limit: QueueLimit) -> None:
        """Raises as `set_rate` does."""

class Live:
    """Switches on DPDK ports from their making until `stop`."""

    def __new__(
        cls,
        switch: Switch,
        ports: Sequence[tuple[int, str, int]],
        setup_json: str,
        queues: int = 1,
    ) -> Live:
        """`ports`: number, device string and the cable's delay in picoseconds of each, with so many
        receive `queues`. Raises DeviceError, naming the device.
        """
    @staticmethod
    def several(
        switches: Sequence[tuple[str, Switch, Sequence[tuple[int, str, int]]]], setup_json: str
    ) -> Live:
        """Several switches of one pipeline each, on one thread: the name, the switch and the ports
        of each. Raises DeviceError, naming the device.
        """
    def stamps(self) -> list[bool]:
        """Of each port, whether its device stamps packets with the instant of their arrival."""
    def is_running(self) -> bool:
        """True until `stop`, or until the data path has ended by itself, which is a bug."""
    def stop(self) -> Instrument | None:
        """Ends the data path and closes the ports. Returns the instrument's error; a second call
        returns None.
        """

class Connection:
    """One end of one TCP connection without input or output, for its caller to drive."""

    def __new__(
        cls, flow: FlowConfig, is_active: bool, macs: tuple[str, str], seed: int
    ) -> Connection:
        """Opens an end of the flow: its source when `is_active`, which connects, its destination
        otherwise. `macs` are this end's address and the one to send to. Raises ValueError.
        """
    def handle_frame(self, now_ps: int, frame: bytes) -> str | None:
        """A frame arrived. Returns why it was not taken, or None."""
    def handle_timeout(self, now_ps: int) -> None:
        """Does what is due."""
    def poll_transmit(self, now_ps: int) -> bytes | None:
        """The next frame to send; to be called after every input until it is None."""
    def poll_timeout(self) -> int | None:
        """When `handle_timeout` is to be called, or None."""
    def write(self, data: bytes | Sequence[int]) -> None:
        """The application writes."""
    def read(self, limit_bytes: int = ...) -> bytes:
        """The application reads up to so many bytes."""
    def close(self) -> None:
        """The application writes no more."""
    def abort(self) -> None:
        """The connection ends at once, with a reset."""
    @property
    def state(self) -> str:
        """The state, as RFC 9293 names it."""
    @property
    def was_reset(self) -> bool:
        """True when a reset ended it."""
    @property
    def has_given_up(self) -> bool:
        """True when we gave up waiting for the peer."""
    @property
    def is_read_to_end(self) -> bool:
        """True when the peer has closed and everything was read."""
    @property
    def unacked_bytes(self) -> int:
        """Bytes written and not yet acknowledged."""
    @property
    def readable_bytes(self) -> int:
        """Bytes that could be read."""
    def figures(self, now_ps: int) -> dict[str, int | None]:
        """What the sender knows and has counted: cwnd_bytes, ssthresh_bytes (None before the first
        loss), in_flight_bytes, srtt_ps, rto_ps, acked_bytes, retransmits, timeouts,
        fast_recoveries, probes; and the receiver: delivered_bytes, acks_sent, ce_marks.
        """

class Sockets:
    """The hosts of a plan whose connections are the kernel's."""

    def __new__(cls, plan_json: str, devices: Mapping[str, str]) -> Sockets:
        """The hosts of a plan (JSON text) by the device strings of their ports. Raises
        PlanError.
        """
    @property
    def began_ns(self) -> int | None:
        """When the run began, in nanoseconds of CLOCK_MONOTONIC_RAW."""
    def handle_open(self, now_ps: int, host: str, flow: int) -> None:
        """The connection of a flow is established at a host, or its datagrams may come and go."""
    def handle_arrived(self, now_ps: int, host: str, flow: int, bytes: bytes) -> None:
        """A host's socket gave these bytes, none: the peer writes no more; or this datagram."""
    def handle_reset(self, host: str, flow: int) -> None:
        """The connection of a flow ended with an error."""
    def handle_info(self, now_ps: int, host: str, flow: int, info: bytes) -> None:
        """What getsockopt(TCP_INFO) gave."""
    def handle_timeout(self, now_ps: int, host: str) -> None:
        """A host's applications do what is due."""
    def poll_timeout(self, host: str) -> int | None:
        """When `handle_timeout` is to be called for a host, or None."""
    def poll_ready(self, host: str) -> list[int]:
        """The flows of a host that have something for their sockets, or are to be shut down."""
    def poll_send(self, now_ps: int, host: str, flow: int, limit_bytes: int) -> bytes:
        """The next bytes for a flow's socket: of a stream `limit_bytes` at most, or a datagram."""
    def handle_sent(self, now_ps: int, host: str, flow: int, bytes: int) -> int:
        """The socket took so many of them. Returns how many bytes, or datagrams, it has taken since
        it was opened.
        """
    def must_shut_down(self, host: str, flow: int) -> bool:
        """True when a socket's sending direction is to be shut down."""
    def handle_shut_down(self, host: str, flow: int) -> None:
        """It was."""
    def watch(self, host: str, flow: int, number: int) -> None:
        """A host that receives will be told when this byte, or datagram, of a flow leaves its
        sender.
        """
    def handle_departure(self, at_ps: int, host: str, flow: int, key: int) -> None:
        """A watched one, the lower half of whose number is `key`, left its sender's kernel."""
