"""How long a scenario's full packets are, and how many of them a limit in another unit is."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from narrows.schema.units import PS_PER_S, Queue
from narrows.testbed import catalogue

if TYPE_CHECKING:
    from narrows.schema.flow import FlowConfig, LengthBasis
    from narrows.schema.profile import ProfileRecord
    from narrows.testbed.scenario.flows import Flow
    from narrows.testbed.scenario.schema import Scenario

TIMESTAMP_BYTES = 12
"""Bytes of the timestamps option with padding (RFC 7323 appendix A), which reduce the payload of a
segment.
"""

UDP_ROOM_BYTES = 12
"""Difference between the TCP and UDP header lengths, in bytes."""

COUNTED_BYTES = {"ip": 0, "frame": 14, "wire": 38}
"""What counts of a full packet besides its IP length, as `LengthBasis` has it."""
IP_BYTES = {4: 20, 6: 40}
"""The IP header, by IP version."""
TCP_BYTES = 20


def payload_bytes(
    variant: str, profile: ProfileRecord, segment_bytes: int | None, *, stamped: bool, version: int
) -> int:
    """Payload of a full segment: the size of the flow, its ns-2 source or its profile. For
    datagrams, the maximum message bytes per datagram. A profile's MSS is that of IPv4, so with
    IPv6 it is less by the difference of the headers.
    """
    given = segment_bytes or catalogue.segment_bytes(variant)
    if given is not None:
        return given
    segment = profile["segment"]
    if "payload" in segment:
        return segment["payload"]
    mss = segment["mss"] - (IP_BYTES[version] - IP_BYTES[4])
    if sender := catalogue.sender(variant):
        return mss + UDP_ROOM_BYTES - sender["header_bytes"]
    return mss - (TIMESTAMP_BYTES if stamped else 0)


def planned_payload_bytes(flow: FlowConfig) -> int:
    """The same for a flow of a plan."""
    own = flow["variant"], flow["profile"], flow["segment_bytes"], flow["timestamps"]
    return _payload_bytes(*own, ip_version(flow))


@functools.cache
def _payload_bytes(
    variant: str, profile: str, segment_bytes: int | None, timestamps: bool | None, version: int
) -> int:
    record = catalogue.profile(profile)
    stamped = record["timestamps"] if timestamps is None else timestamps
    return payload_bytes(variant, record, segment_bytes, stamped=stamped, version=version)


def ip_version(flow: FlowConfig) -> int:
    """The IP version of a flow of a plan."""
    return 6 if ":" in flow["source"]["ip"] else 4


def ip_bytes(scenario: Scenario, flow: Flow) -> int:
    """The IP length of a flow's full packet."""
    profile = catalogue.profile(scenario.profile_of(flow))
    stamped = profile["timestamps"] if flow.timestamps is None else flow.timestamps
    version = scenario.ip_version
    payload = payload_bytes(flow.variant, profile, flow.segment, stamped=stamped, version=version)
    whole = payload + IP_BYTES[version] + TCP_BYTES
    if catalogue.sender(flow.variant):
        return whole - UDP_ROOM_BYTES
    return whole + (TIMESTAMP_BYTES if stamped else 0)


def full_packet_bytes(scenario: Scenario, counts: LengthBasis) -> int:
    """The largest full packet of all flows, in the bytes that count."""
    return COUNTED_BYTES[counts] + max(ip_bytes(scenario, flow) for flow in scenario.flow)


def to_packets(queue: Queue, rate_bps: int, packet_bytes: int) -> int:
    """A limit as full packets, rounded down; one in time at this rate."""
    if queue.unit == "packets":
        return int(queue.amount)
    is_time = queue.unit == "ps"
    size_bytes = queue.amount * rate_bps / (8 * PS_PER_S) if is_time else queue.amount
    return int(size_bytes / packet_bytes)
