"""What a process of a run says to its parent: JSON objects, a line each, on standard output."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from narrows.controller.client import ControllerError
from narrows.controller.drivers import DriverError

if TYPE_CHECKING:
    from narrows.schema.run import WorkerMessage


class SocketsError(Exception):
    """Hosts with the kernel's TCP could not be had, or did not do what they should."""


def say(message: WorkerMessage) -> int:
    """Writes one line; 1 when the parent is gone."""
    try:
        print(json.dumps(message), flush=True)
    except BrokenPipeError:
        sys.stdout = None
        return 1
    return 0


@contextlib.contextmanager
def reported(engine: Any) -> Iterator[None]:
    """Says why what is done inside was refused, or failed; ends a process that was stopped."""
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
    except OSError as error:
        say({"failed": f"cannot write the results: {error}"})
