"""Without root: the shell in a user namespace of its own, where the kernel allows one.

In there the user is root over network namespaces, but not over this machine's. So the far side is a
second command.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from narrows.testbed.child_process import environment
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.tools.shell.options import ShellOptions

UNSHARE: Final = ("unshare", "--user", "--map-root-user", "--net", "--mount")
PREPARE: Final = 'mount -t tmpfs tmpfs /run && ip link set lo up && exec "$@"'
"""/run has the network namespaces' names; the user cannot write to the machine's."""
SWITCHES: Final = {
    "kernel/apparmor_restrict_unprivileged_userns": "1",
    "kernel/unprivileged_userns_clone": "0",
    "user/max_user_namespaces": "0",
    "user/max_net_namespaces": "0",
}
"""Parameters in /proc/sys that forbid user namespaces, with the value that does."""


def enter_if_needed(options: ShellOptions) -> None:
    """Starts this command again as root of a user namespace, unless it is root. Raises `InputError`
    where the kernel does not allow it, or the options need this machine's network.
    """
    if os.geteuid() == 0:
        return
    if options.server is None:
        what = "needs root for this machine's network; expected sudo, or --server COMMAND"
        raise InputError("narrows shell", [Problem("", what)])
    tried = subprocess.run(
        [*UNSHARE, "true"], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    if tried.returncode != 0:
        what = f"needs root, or user namespaces: {tried.stderr.strip()}{forbidding()}"
        raise InputError("narrows shell", [Problem("", what)])
    again = [sys.executable, "-m", "narrows", *sys.argv[1:]]
    command = [*UNSHARE, "sh", "-c", PREPARE, "sh", *again]
    sys.stdout.flush()
    os.execvpe(command[0], command, environment())


def forbidding() -> str:
    """The parameters of this kernel that forbid user namespaces, and how to allow them."""
    found = []
    for name, value in SWITCHES.items():
        path = Path("/proc/sys") / name
        if path.exists() and path.read_text().strip() == value:
            other = "0" if value == "1" else "15000" if "max" in name else "1"
            found.append(f"sysctl -w {name.replace('/', '.')}={other}")
    return f"; {' or '.join(found)} allows them" if found else ""
