"""`narrows doctor`: what this machine can run, and how to add what is missing."""

from __future__ import annotations

import argparse
from typing import Any

from narrows.testbed.cli.exit_codes import DONE, FAILED
from narrows.testbed.cli.options import add_target_options, own_options
from narrows.testbed.findings import Finding
from narrows.testbed.needs import EngineMissingError
from narrows.testbed.targets import HOSTS, TARGETS
from narrows.testbed.targets.base import Hosts, Target


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser(
        "doctor", help="list what this machine can run, and how to get the rest"
    )
    command.add_argument("--target", choices=TARGETS, help="check the needs of one target only")
    add_target_options(command, only_hardware=True)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows doctor`. Raises `InputError`."""
    from narrows.testbed.tools import doctor

    target = TARGETS[options.target] if options.target else None
    own = own_options(options, target)
    if target is None:
        code = doctor.main()
        for each in TARGETS.values():
            print(of(f"target {each.name}", each))
        for hosts in HOSTS.values():
            print(of(f"hosts {hosts.name}", hosts))
        return code
    findings = target.findings(own)
    for finding in findings:
        print(finding)
    return DONE if all(finding.found is not None for finding in findings) else FAILED


def of(name: str, part: Target | Hosts) -> Finding:
    """Whether this machine supports a target or hosts."""
    try:
        lacking = part.missing()
    except EngineMissingError as error:
        lacking = [str(error)]
    indented = "\n           ".join(lacking)
    return Finding(name, None if lacking else "ready", indented, required=False)
