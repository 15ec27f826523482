"""A plan's hosts as network namespaces, for the duration of a run.

Each has a veth to a port of the switch side, which opens the devices in `devices`. The switch side
also models the access links, so a veth has neither a rate nor a queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from narrows.schema.budgets import LIVE_PORTS
from narrows.testbed import needs
from narrows.testbed.problems import Problem
from narrows.testbed.targets.dpdk.setup import af_packet
from narrows.testbed.targets.linux import settings, variants
from narrows.testbed.targets.linux.namespaces import Namespace, Plumbing, router_of
from narrows.testbed.targets.linux.settings import HostSettings

if TYPE_CHECKING:
    from narrows.schema.plan import Plan


@dataclass(frozen=True)
class LinuxHosts:
    """The hosts of a run."""

    namespaces: Mapping[str, Namespace]
    """By the plan's names."""
    congestion: Mapping[str, str]
    """The kernel's name of each variant in the plan."""

    @property
    def devices(self) -> dict[str, str]:
        """The device string of each host's port on the switch side."""
        return {
            name: af_packet(number, namespace.outside)
            for number, (name, namespace) in enumerate(self.namespaces.items())
        }


def problems(plan: Plan) -> list[Problem]:
    """Reasons why this machine cannot run the plan's hosts; empty if it can."""
    if missing := needs.lacking("--hosts linux"):
        return [Problem("", f"this machine lacks {'; '.join(missing)}")]
    found = list(settings.problems(plan))
    hosts, cables = len(plan["hosts"]), len(plan["cables"])
    most = LIVE_PORTS - 2 * cables
    if hosts > most:
        what = f'expected at most {most} hosts; [dumbbell] hosts = "shared" needs only two'
        found.append(Problem("hosts", what, hosts))
    return found


@contextmanager
def made(plan: Plan) -> Iterator[LinuxHosts]:
    """Creates the hosts and loads their variants into the kernel; removes both at the end.

    Raises `PlumbingError` or `VariantError`.
    """
    asked = settings.by_host(plan)
    with ExitStack() as stack:
        congestion = stack.enter_context(variants.registered(settings.variants_of(plan)))
        plumbing = stack.enter_context(Plumbing())
        namespaces = {}
        for number, host in enumerate(plan["hosts"], 1):
            config = host["config"]
            namespaces[config["name"]] = namespace = plumbing.add_host(
                f"h{number}", config["ip"], config["mac"], config["gateway_mac"]
            )
            set_up(namespace, router_of(config["ip"]), asked[config["name"]])
        yield LinuxHosts(namespaces, congestion)


def set_up(namespace: Namespace, router: str, asked: HostSettings) -> None:
    """Sets a host's sysctls, and the attributes of its route. Raises `PlumbingError`."""
    for key, value in asked.sysctls.items():
        namespace.set_sysctl(key, value)
    if asked.route:
        attributes = [word for pair in asked.route.items() for word in pair]
        namespace.run("ip", "route", "change", "default", "via", router, "dev", "eth0",
                      "onlink", *attributes)  # fmt: skip
