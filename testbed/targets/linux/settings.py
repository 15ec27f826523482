"""The kernel settings that a plan's flows need, and the ones that Linux does not support.

A flow's profile and recovery describe our TCP; the kernel's hosts ignore both. Some settings apply
to a socket. The others apply to a whole host (a `sysctl` of its namespace, an attribute of its
route), so all flows of a host must agree on them.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from narrows.schema.units import PS_PER_MS, PS_PER_S
from narrows.testbed import catalogue
from narrows.testbed.problems import Problem
from narrows.testbed.scenario.packets import IP_BYTES, TIMESTAMP_BYTES, ip_version
from narrows.testbed.targets.linux import variants

if TYPE_CHECKING:
    from narrows.schema.flow import FlowConfig
    from narrows.schema.plan import Plan


SYSCTLS = {
    "net.ipv4.tcp_rmem": "4096 131072 67108864",
    "net.ipv4.tcp_wmem": "4096 65536 67108864",
    "net.ipv4.tcp_no_metrics_save": "1",
}
"""Buffers that do not limit the window, and no metrics saved from earlier connections."""

NoCounterpart = Literal["initial_ssthresh", "data_on_syn", "max_burst"]
NO_COUNTERPART: dict[NoCounterpart, str] = {
    "initial_ssthresh": "the kernel has no such setting",
    "data_on_syn": "the kernel has no T/TCP",
    "max_burst": "the kernel has no such limit",
}
"""Keys of a flow that the kernel's TCP does not support, and why."""
RATE_VARIANT, RATE = "app-tcp", "rate_mbps"
"""The only variant with a parameter per socket."""
DATAGRAMS = "udp"
"""The only datagram sender for the kernel's hosts; TFRC needs our hosts."""
MTU, UDP_BYTES = 1500, 8
"""A veth's MTU, and UDP's header."""
IPV6_UNICAST_HOPS, IPV6_TCLASS = 16, 67
"""linux/in6.h."""


@dataclass
class HostSettings:
    """A host's namespace: its sysctls, and the attributes of its route."""

    sysctls: dict[str, str] = field(default_factory=lambda: dict(SYSCTLS))
    route: dict[str, str] = field(default_factory=dict)


def of_host(flow: FlowConfig) -> HostSettings:
    """The settings that one flow needs on both its hosts."""
    asked = HostSettings({}, {})
    keys: tuple[Literal["sack", "timestamps"], ...] = ("sack", "timestamps")
    for key in keys:
        if (value := of_sink(flow, key)) is not None:
            asked.sysctls[f"net.ipv4.tcp_{key}"] = str(int(value))
    if flow["ecn"] is not None:
        asked.sysctls["net.ipv4.tcp_ecn"] = str(int(flow["ecn"]))
    if of_sink(flow, "delayed_ack") is False:
        asked.route["quickack"] = "1"
    if flow["initial_window"] is not None:
        asked.route["initcwnd"] = str(flow["initial_window"])
    if flow["min_rto_ps"] is not None:
        asked.route["rto_min"] = f"{-(-flow['min_rto_ps'] // PS_PER_MS)}ms"
    return asked


def of_sink(flow: FlowConfig, key: Literal["sack", "timestamps", "delayed_ack"]) -> bool | None:
    """A setting of the flow, or else of its sink."""
    own = flow[key]
    if own is not None or not flow["sink"] or key == "timestamps":
        # No sink sets timestamps.
        return own
    return catalogue.sink(flow["sink"])[key]


def by_host(plan: Plan) -> dict[str, HostSettings]:
    """The settings of every host. The plan must have no `problems`."""
    found = {host["config"]["name"]: HostSettings() for host in plan["hosts"]}
    for flow in plan["flows"]:
        if is_datagrams(flow["flow"]):
            continue
        asked = of_host(flow["flow"])
        for name in (flow["from"], flow["to"]):
            found[name].sysctls |= asked.sysctls
            found[name].route |= asked.route
    return found


def family(flow: FlowConfig) -> socket.AddressFamily:
    """The family of a flow's sockets."""
    return socket.AF_INET if ip_version(flow) == 4 else socket.AF_INET6


def ip_options(flow: FlowConfig, *, is_sender: bool) -> dict[tuple[int, int], int | None]:
    """Socket options for the time to live, or hop limit, and the code point; None: the default."""
    ttl, traffic_class = flow["ttl"] if is_sender else None, (flow.get("dscp") or 0) << 2
    if family(flow) == socket.AF_INET:
        level, names = socket.IPPROTO_IP, (socket.IP_TTL, socket.IP_TOS)
    else:
        level, names = socket.IPPROTO_IPV6, (IPV6_UNICAST_HOPS, IPV6_TCLASS)
    return {(level, names[0]): ttl, (level, names[1]): traffic_class}


def keep_alive_options(flow: FlowConfig) -> dict[tuple[int, int], int]:
    """Socket options for keep-alives (whole seconds) and the user timeout (milliseconds)."""
    options = dict[tuple[int, int], int]()
    if asked := flow["keep_alive"]:
        options = {
            (socket.SOL_SOCKET, socket.SO_KEEPALIVE): 1,
            (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE): -(-asked["idle_ps"] // PS_PER_S),
            (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL): -(-asked["interval_ps"] // PS_PER_S),
            (socket.IPPROTO_TCP, socket.TCP_KEEPCNT): asked["probes"],
        }
    if (timeout_ps := flow["user_timeout_ps"]) is not None:
        timeout_ms = -(-timeout_ps // PS_PER_MS)
        options[socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT] = timeout_ms
    return options


def segment_option(flow: FlowConfig) -> int | None:
    """TCP_MAXSEG, which includes the timestamps option."""
    if flow["segment_bytes"] is None:
        return None
    stamped = of_sink(flow, "timestamps") is not False
    return int(flow["segment_bytes"]) + (TIMESTAMP_BYTES if stamped else 0)


def required_rate(flow: FlowConfig) -> int | None:
    """The required rate of AppTCP in payload bytes per second; None for other variants."""
    if flow["variant"] != RATE_VARIANT:
        return None
    parameters = catalogue.variant(RATE_VARIANT)["parameters"]
    [default] = (known["default"] for known in parameters if known["name"] == RATE)
    return round(float(flow["params"].get(RATE, default)) * 1e6 / 8)


def variants_of(plan: Plan) -> list[str]:
    """The variants of a plan's connections, each once."""
    flows = [planned["flow"] for planned in plan["flows"]]
    return list(dict.fromkeys(flow["variant"] for flow in flows if not is_datagrams(flow)))


def is_datagrams(flow: FlowConfig) -> bool:
    """True if a flow sends datagrams instead of using TCP."""
    return catalogue.sender(flow["variant"]) is not None


def problems(plan: Plan) -> Iterable[Problem]:
    """The parts of a plan that the kernel does not support."""
    for host in plan["hosts"]:
        if host["config"]["reconstructs_acks"]:
            name = host["config"]["name"]
            yield Problem(f"host {name}: access.reconstruct_acks", "is supported by our hosts only")
    asked = dict[str, tuple[int, HostSettings]]()
    for planned in plan["flows"]:
        flow = planned["flow"]
        where = f"flow {flow['id']}"
        if is_datagrams(flow):
            if flow["variant"] != DATAGRAMS:
                what = f"needs our hosts; expected {DATAGRAMS} or a variant of the kernel"
                yield Problem(f"{where}: variant", what, flow["variant"])
            most = MTU - IP_BYTES[ip_version(flow)] - UDP_BYTES
            if (flow["segment_bytes"] or 0) > most:
                what = f"expected at most {most} bytes in a datagram"
                yield Problem(f"{where}: segment", what, flow["segment_bytes"])
            continue
        for key, why in NO_COUNTERPART.items():
            if flow[key]:
                yield Problem(
                    f"{where}: {key}", f"is not supported by --hosts linux: {why}", flow[key]
                )
        if flow["sink"] and catalogue.sink(flow["sink"])["ack_control"]:
            yield Problem(f"{where}: sink", "is supported by our receiver only", flow["sink"])
        for name in flow["params"]:
            if (flow["variant"], name) != (RATE_VARIANT, RATE):
                what = "is not supported by --hosts linux: only our variants have parameters"
                yield Problem(f"{where}: params.{name}", what, flow["params"][name])
        own = of_host(flow)
        for name in (planned["from"], planned["to"]):
            first, others = asked.setdefault(name, (flow["id"], own))
            if others != own:
                what = (
                    f"flow {first} at host {name} needs different TCP options; expected the same, "
                    'or separate hosts ([dumbbell] hosts = "per-flow")'
                )
                yield Problem(where, what)
    for variant in variants_of(plan):
        if catalogue.is_agent(variant):
            yield Problem(
                "flow.variant", "is an agent of ns-2; expected a variant of the kernel", variant
            )
        elif lacking := variants.refused(variant):
            yield Problem("flow.variant", lacking, variant)
