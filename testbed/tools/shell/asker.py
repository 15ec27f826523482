"""Who asked for a shell: the user that its program, its server and then the shell itself run as.

Root is needed for namespaces and ports only. A program that `sudo narrows shell` starts is not
root's but that of the user who called sudo, as without the shell around it.
"""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from narrows.testbed.child_process import PACKAGES
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.tools.switch import privileges

ALL_USERS: Final = "0 0 4294967295"
"""/proc/self/uid_map outside user namespaces."""
SEARCH: Final = 0o1
CALLER: Final = "SUDO_UID"
"""sudo says who called it."""


@dataclass(frozen=True)
class Asker:
    """The user who asked, with the groups."""

    uid: int
    groups: tuple[int, ...]
    account: pwd.struct_passwd | None
    """None: the user of this process."""

    @classmethod
    def find(cls, name: str | None) -> Self:
        """The user of this name; without one whoever called sudo, or else this process's user.
        Raises `InputError`.
        """
        account = None
        if name not in (None, "root"):
            account = privileges.find_user(name)
        elif name is None and is_root_of_all():
            account = caller()
        if account is not None and not is_root_of_all():
            raise InputError("--user", [Problem(str(name), "expected to be started as root")])
        if account is None:
            return cls(os.geteuid(), (os.getegid(), *os.getgroups()), None)
        groups = os.getgrouplist(account.pw_name, account.pw_gid)
        return cls(account.pw_uid, tuple(groups), account)

    def command(self, words: Sequence[str]) -> list[str]:
        """The command line that root uses to run a command as this user."""
        if self.account is None:
            return list(words)
        user, group = str(self.account.pw_uid), str(self.account.pw_gid)
        return ["setpriv", "--reuid", user, "--regid", group, "--init-groups", "--", *words]

    def environment(self) -> dict[str, str]:
        """The variables that differ for this user."""
        if self.account is None:
            return {}
        name = self.account.pw_name
        return {"HOME": self.account.pw_dir, "USER": name, "LOGNAME": name}

    def check(self, results: Path) -> None:
        """Raises `InputError` if this user cannot read this program, or cannot write the results.
        Root without privileges is a user like any other.
        """
        for path in (PACKAGES, Path(sys.prefix), Path(os.__file__).parent, results.resolve()):
            for directory in (path, *path.parents):
                if directory.is_dir() and not self._may(directory, SEARCH):
                    what = "is closed to the user that the shell becomes; expected --user OWNER"
                    raise InputError("--user", [Problem(str(directory), what)])
        for path in foreign(results, self.uid):
            what = "belongs to another user; expected another --name, or the owner's --user"
            raise InputError("--out", [Problem(str(path), what)])

    def own(self, *paths: Path) -> None:
        """Makes files and directories this user's."""
        if self.account is not None:
            for path in paths:
                os.chown(path, self.account.pw_uid, self.account.pw_gid, follow_symlinks=False)

    def become(self) -> None:
        """Makes this process the user's, without privileges. Raises `InputError`."""
        privileges.become(self.account)
        os.environ.update(self.environment())

    def _may(self, path: Path, access: int) -> bool:
        """Whether the permissions of a file grant this user access, without a capability."""
        status = path.stat()
        if status.st_uid == self.uid:
            return bool(status.st_mode >> 6 & access)
        if status.st_gid in self.groups:
            return bool(status.st_mode >> 3 & access)
        return bool(status.st_mode & access)


def is_root_of_all() -> bool:
    """Whether this process is root, not of a user namespace alone."""
    mapped = Path("/proc/self/uid_map")
    return os.geteuid() == 0 and mapped.exists() and mapped.read_text().split() == ALL_USERS.split()


def caller() -> pwd.struct_passwd | None:
    """Who called sudo; None for root itself."""
    number = os.environ.get(CALLER, "")
    if not number.isdecimal() or int(number) == 0:
        return None
    try:
        return pwd.getpwuid(int(number))
    except KeyError:
        return None


def foreign(directory: Path, uid: int) -> Iterator[Path]:
    """Files and directories of other users."""
    for parent, _, names in os.walk(directory):
        for path in (Path(parent), *(Path(parent) / name for name in names)):
            if path.lstat().st_uid != uid:
                yield path
