"""bmv2's programs: how to start them, and entries through `simple_switch_CLI`.

NARROWS_SIMPLE_SWITCH and NARROWS_SIMPLE_SWITCH_CLI are the commands (`ip netns exec NAME
simple_switch`); without them `simple_switch` and `simple_switch_CLI` from PATH. Its Thrift server
listens on every address, so a network namespace of its own, the same for both, is advised.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence

PORT = 9393


def command(variable: str, name: str) -> list[str] | None:
    """The command of one of bmv2's programs; None if it is not installed."""
    if variable in os.environ:
        return shlex.split(os.environ[variable])
    found = shutil.which(name)
    return [found] if found else None


SWITCH = command("NARROWS_SIMPLE_SWITCH", "simple_switch")
CLI = command("NARROWS_SIMPLE_SWITCH_CLI", "simple_switch_CLI")


def configure(commands: Sequence[str]) -> None:
    """Gives a running switch these commands. Raises `AssertionError` with its answer if it refuses
    one, `CalledProcessError` if no switch answers.
    """
    assert CLI
    answer = subprocess.run(
        [*CLI, "--thrift-port", str(PORT)], input="\n".join(commands) + "\n",
        text=True, capture_output=True, check=True, timeout=30,
    ).stdout  # fmt: skip
    wrong = [line for line in answer.splitlines() if "Invalid" in line or "Error" in line]
    assert not wrong, answer
