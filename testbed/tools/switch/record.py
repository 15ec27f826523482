"""`narrows switch --record`: the ledger of every port."""

from __future__ import annotations

import logging
import os
import pwd
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from narrows._engine import Switch
    from narrows.schema.summary import Instrument
    from narrows.testbed.tools.ledger import Ledger

NAME = "switch"
"""Of the switch in the table."""


class Recording:
    """A ledger, or nothing."""

    def __init__(self, ledger: Ledger | None) -> None:
        self._ledger = ledger

    def begin(self) -> None:
        """Takes rows from now on."""
        if self._ledger is not None:
            self._ledger.begin()

    def pause(self) -> None:
        """Before the data path ends."""
        if self._ledger is not None:
            self._ledger.stop()

    def end(self, instrument: Instrument | None, log: logging.Logger) -> None:
        """Writes the last rows and the summary. Raises `RunError` if the table could not be
        written.
        """
        if self._ledger is None:
            return
        summary = self._ledger.finish(instrument, {})
        if not summary["valid"]:
            log.info("invalid: %s", summary["invalid_reason"])
        log.info("ledger: %s", self._ledger.directory)


def ledger(directory: Path | None, switch: Switch, user: pwd.struct_passwd | None) -> Recording:
    """The ledger in a new directory, which belongs to the user that the process becomes. Raises
    `InputError`.
    """
    if directory is None:
        return Recording(None)
    from narrows.testbed.tools.ledger import Ledger, new_directory

    new_directory(directory, "--record")
    if user is not None and os.geteuid() == 0:
        os.chown(directory, user.pw_uid, user.pw_gid)
    return Recording(Ledger(directory, {NAME: switch}))
