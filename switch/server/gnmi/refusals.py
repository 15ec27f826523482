"""Errors of gNMI requests: a canonical code, and a message that fits the response headers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import grpc

from narrows.schema import budgets
from narrows.switch.server.gnmi.subscriptions import SubscriptionError
from narrows.switch.server.gnmi.tree import PathError
from narrows.switch.server.target import TargetError, short

CODES = {
    "not-found": grpc.StatusCode.NOT_FOUND,
    "already-exists": grpc.StatusCode.ALREADY_EXISTS,
    "invalid-argument": grpc.StatusCode.INVALID_ARGUMENT,
    "out-of-range": grpc.StatusCode.OUT_OF_RANGE,
    "resource-exhausted": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "permission-denied": grpc.StatusCode.PERMISSION_DENIED,
    "failed-precondition": grpc.StatusCode.FAILED_PRECONDITION,
    "unimplemented": grpc.StatusCode.UNIMPLEMENTED,
    "internal": grpc.StatusCode.INTERNAL,
}


class RefusedError(Exception):
    """A request failed; carries the gRPC code and message."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def invalid(message: str) -> RefusedError:
    """An INVALID_ARGUMENT error."""
    return RefusedError(grpc.StatusCode.INVALID_ARGUMENT, message)


def check_paths(count: int) -> None:
    """Raises for a request of too many paths."""
    if count > budgets.GNMI_PATHS:
        too_many(f"{count} paths: expected at most {budgets.GNMI_PATHS}")


def check_length(elements: int) -> None:
    """Raises for a path of too many elements and keys, which would take minutes to compare."""
    if elements > budgets.GNMI_ELEMENTS:
        too_many(f"a path of {elements} elements: expected at most {budgets.GNMI_ELEMENTS}")


def check_values(count: int) -> None:
    """Raises for paths that select too many values."""
    if count > budgets.GNMI_VALUES:
        too_many(f"the paths select more than {budgets.GNMI_VALUES} values; expected fewer")


def too_many(message: str) -> NoReturn:
    """Raises a RESOURCE_EXHAUSTED error."""
    raise RefusedError(grpc.StatusCode.RESOURCE_EXHAUSTED, message)


@contextmanager
def refusing(context: grpc.ServicerContext) -> Iterator[None]:
    """Converts exceptions raised inside to the request's error."""
    try:
        yield
    except RefusedError as error:
        context.abort(error.code, short(str(error)))
    except RecursionError:
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the value is nested too deeply")
    except (PathError, SubscriptionError) as error:
        context.abort(path_code(error), short(str(error)))
    except TargetError as error:
        context.abort(CODES[error.kind], short(str(error)))


def path_code(error: Exception) -> grpc.StatusCode:
    """A path outside the models is INVALID_ARGUMENT; a missing list entry is NOT_FOUND."""
    if isinstance(error, PathError) and not error.is_syntax:
        return grpc.StatusCode.NOT_FOUND
    return grpc.StatusCode.INVALID_ARGUMENT
