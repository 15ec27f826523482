"""Messages of a run's process to its parent: one JSON object per line on standard output."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from narrows.controller.errors import ControllerError, DriverError

if TYPE_CHECKING:
    from narrows.schema.run import WorkerMessage


class SocketsError(Exception):
    """Hosts with the kernel's TCP could not be created, or failed."""


def say(message: WorkerMessage) -> int:
    """Writes one line; exits with 1 if the parent has ended."""
    try:
        print(json.dumps(message), flush=True)
    except BrokenPipeError:
        sys.stdout = None
        return 1
    return 0


@contextlib.contextmanager
def report_errors() -> Iterator[None]:
    """Reports errors raised inside as `refused` or `failed`; ends a stopped process."""
    from narrows.testbed import engine

    try:
        yield
    except engine.Cancelled:
        sys.exit(1)
    except (engine.PlanError, ControllerError, DriverError) as error:
        say({"refused": str(error)})
    except (engine.RunError, engine.DeviceError, SocketsError) as error:
        say({"failed": str(error)})
    except TimeoutError as error:
        say({"failed": str(error)})
    except MemoryError:
        say({"failed": "not enough memory for this run"})
    except OSError as error:
        say({"failed": f"cannot write the results: {error}"})
