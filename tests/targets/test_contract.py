"""Every target and every kind of hosts is one object, and no other code compares its name."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from narrows.testbed.problems import InputError
from narrows.testbed.scenario import sweep
from narrows.testbed.targets import HOSTS, TARGETS
from narrows.testbed.targets.base import TABLES, Hosts, Target
from narrows.testbed.targets.our_hosts import OUR_HOSTS
from narrows.testbed.targets.sim import Sim
from tests.support.world import ROOT, TWO_FLOWS, write


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_a_target_says_what_it_is(target: Target) -> None:
    package = importlib.import_module(type(target).__module__)
    assert [each for each in vars(package).values() if isinstance(each, Target)] == [target]
    assert target.title
    assert set(target.records) <= set(TABLES)
    assert all(option.flag.startswith("--") and option.help for option in target.options)
    assert isinstance(target.missing(), list)
    # The kernel's TCP has no virtual time.
    assert target.in_real_time or target.no_kernel_hosts


@pytest.mark.parametrize("hosts", HOSTS.values(), ids=HOSTS)
def test_hosts_say_what_they_are(hosts: Hosts) -> None:
    assert hosts.title
    assert isinstance(hosts.missing(), list)
    assert hosts.in_kernel == bool(hosts.versions())


def test_a_target_refuses_a_table_that_it_cannot_record(tmp_path: Path) -> None:
    class Poor(Sim):
        name = "poor"
        records = ("queue", "flows")

    def checked(record: str) -> None:
        [point] = sweep.read(write(tmp_path, f"{TWO_FLOWS}[record]\n{record}\n"))
        Poor().check(point.scenario, "s.toml", Poor().settings(OUR_HOSTS, {}))

    checked("packets = false")
    with pytest.raises(InputError, match=r"s\.toml: record\.capture: is not supported by"):
        checked("capture = true")


def compared(path: Path) -> Iterator[str]:
    """The texts that a file compares with or matches against."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Compare):
            compared_with = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            compared_with = [node.value]
        else:
            continue
        for side in compared_with:
            for each in ast.walk(side):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield each.value


def test_nobody_compares_the_name_of_a_target(tmp_path: Path) -> None:
    names = {*TARGETS, *HOSTS}
    guilty = [
        f"{path.relative_to(ROOT)}: {text}"
        for path in (ROOT / "testbed").rglob("*.py")
        for text in compared(path)
        if text in names
    ]
    assert not guilty
    bad = tmp_path / "bad.py"
    bad.write_text('if target != "sim" or target in ("dpdk", "bmv2"):\n    pass\n')
    assert {*compared(bad)} == {"sim", "dpdk", "bmv2"}
