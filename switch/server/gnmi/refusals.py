"""Refused gNMI requests: the canonical code, and a message that fits a response's headers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import grpc

from narrows.switch.server.gnmi.subscriptions import SubscriptionError
from narrows.switch.server.gnmi.tree import PathError
from narrows.switch.server.target import TargetError

MESSAGE_MAX = 600
"""Characters, of which gRPC makes up to 12 bytes each; its headers hold 8 KiB."""
CODES = {
    "not-found": grpc.StatusCode.NOT_FOUND,
    "already-exists": grpc.StatusCode.ALREADY_EXISTS,
    "invalid-argument": grpc.StatusCode.INVALID_ARGUMENT,
    "out-of-range": grpc.StatusCode.OUT_OF_RANGE,
    "resource-exhausted": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "permission-denied": grpc.StatusCode.PERMISSION_DENIED,
    "failed-precondition": grpc.StatusCode.FAILED_PRECONDITION,
    "unimplemented": grpc.StatusCode.UNIMPLEMENTED,
}


class RefusedError(Exception):
    """A request that is answered with an error."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def invalid(message: str) -> RefusedError:
    """A wrong argument."""
    return RefusedError(grpc.StatusCode.INVALID_ARGUMENT, message)


@contextmanager
def refusing(context: grpc.ServicerContext) -> Iterator[None]:
    """Turns what the code under it raises into the request's error."""
    try:
        yield
    except RefusedError as error:
        context.abort(error.code, short(str(error)))
    except RecursionError:
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the value is nested too deep")
    except (PathError, SubscriptionError) as error:
        context.abort(path_code(error), short(str(error)))
    except TargetError as error:
        context.abort(CODES[error.kind], short(str(error)))


def short(message: str) -> str:
    """A message that fits HTTP/2's headers, whatever path was sent."""
    half = MESSAGE_MAX // 2
    return message if len(message) <= MESSAGE_MAX else f"{message[:half]} ... {message[-half:]}"


def path_code(error: Exception) -> grpc.StatusCode:
    """A path that the models do not have is a wrong argument, one without its entry not found."""
    if isinstance(error, PathError) and not error.is_syntax:
        return grpc.StatusCode.NOT_FOUND
    return grpc.StatusCode.INVALID_ARGUMENT
