"""Gives up privileges (capabilities(7), prctl(2)) that a switch does not need once its ports are
open.

Capabilities belong to a thread. The engine has each thread give up its own, those of DPDK and of
the data path too.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import sys
from collections.abc import Collection
from enum import IntEnum

from narrows.testbed.problems import InputError, Problem

IS_LINUX = sys.platform.startswith("linux")
PR_CAPBSET_READ, PR_CAPBSET_DROP = 23, 24
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
LEAST_PORT = 1024
"""Lower TCP ports need `NET_BIND_SERVICE`."""


class Capability(IntEnum):
    """Those that a switch keeps for a while (linux/capability.h)."""

    SETGID = 6
    SETUID = 7
    NET_BIND_SERVICE = 10


def find_user(name: str | None) -> pwd.struct_passwd | None:
    """The user that `--user` names. Raises `InputError`."""
    if name is None:
        return None
    try:
        user = pwd.getpwnam(name)
    except (KeyError, ValueError):
        raise InputError("--user", [Problem(name, "there is no such user")]) from None
    if not IS_LINUX:
        raise InputError("--user", [Problem(name, "expected Linux")])
    if user.pw_uid == 0:
        raise InputError("--user", [Problem(name, "expected a user without privileges")])
    if os.geteuid() not in (0, user.pw_uid):
        raise InputError("--user", [Problem(name, "expected to be started as root")])
    return user


def gain_no_more() -> None:
    """From now on no program that the process starts gains a privilege. Threads that start later
    inherit this.
    """
    if not IS_LINUX:
        return
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    library.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    # The kernel knows a capability if this is 0 or 1. Without SETPCAP there is nothing to gain.
    number = 0
    while library.prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0:
        library.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
        number += 1


def keep(capabilities: Collection[Capability]) -> None:
    """Gives up all other capabilities of all threads. Raises `OSError`."""
    if not IS_LINUX:
        return
    from narrows.testbed import engine

    engine.keep_capabilities(sum(1 << one for one in capabilities))


def needed(user: pwd.struct_passwd | None, tcp_port: int) -> set[Capability]:
    """What is needed until the gRPC port is open and the process is the user's."""
    found = set[Capability]()
    if 0 < tcp_port < LEAST_PORT:
        found.add(Capability.NET_BIND_SERVICE)
    if user is not None:
        found |= {Capability.SETUID, Capability.SETGID}
    return found


def become(user: pwd.struct_passwd | None) -> None:
    """Makes all threads the user's, without any capability. The C library tells the threads
    (nptl(7)); a thread that leaves user 0 loses its capabilities. Raises `InputError`.
    """
    if user is not None and os.geteuid() == 0:
        try:
            os.initgroups(user.pw_name, user.pw_gid)
            os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
            os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
        except PermissionError:
            what = "cannot become this user; expected root with CAP_SETUID and CAP_SETGID"
            raise InputError("--user", [Problem(user.pw_name, what)]) from None
    keep(())
