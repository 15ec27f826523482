"""Errors as gRPC statuses: one per call, or one per update of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import grpc
from finsy.proto import p4r, rpc_status
from google.protobuf.any_pb2 import Any as AnyMessage

from narrows.schema import budgets
from narrows.switch.server.target import Kind, TargetError, short

CODES: dict[Kind, grpc.StatusCode] = {
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
ABORTED = int(grpc.StatusCode.ABORTED.value[0])
DETAILS = "grpc-status-details-bin"
"""The trailing metadata that holds a `google.rpc.Status`."""
SPACE = "narrows"
"""The error space of our messages."""
UNKNOWN = int(grpc.StatusCode.UNKNOWN.value[0])
MESSAGE_LENGTHS = (budgets.MESSAGE_CHARACTERS, 100, 0)
"""Lengths of the updates' messages; the first that fits is taken."""
FRAME_BYTES = 4
"""Of a detail in its status: a tag and a length."""


def code(error: TargetError) -> int:
    """The canonical code's number."""
    return int(CODES[error.kind].value[0])


def abort(context: grpc.ServicerContext, error: TargetError) -> NoReturn:
    """Ends the call with the error."""
    context.abort(CODES[error.kind], short(error.message))
    raise AssertionError("abort raises")


def abort_batch(
    context: grpc.ServicerContext, errors: Sequence[TargetError | None], undone: bool
) -> NoReturn:
    """Ends a Write with a status for each update, in order. With `undone`, updates without an error
    were not applied either.
    """
    status = batch_status(errors, undone)
    context.set_trailing_metadata(((DETAILS, status.SerializeToString()),))
    context.abort(grpc.StatusCode.UNKNOWN, status.message)
    raise AssertionError("abort raises")


def batch_status(errors: Sequence[TargetError | None], undone: bool) -> rpc_status.Status:
    """The statuses of a batch's updates, within what clients take as metadata: with whole messages,
    else with short ones, else with codes alone, else those of the first updates only.
    """
    for characters in MESSAGE_LENGTHS:
        status = rpc_status.Status(code=UNKNOWN, message=summary(errors))
        packed = (detail(error, undone, characters) for error in errors)
        left = budgets.STATUS_BYTES - status.ByteSize()
        for one in packed:
            left -= one.ByteSize() + FRAME_BYTES
            if left < 0:
                break
            status.details.append(one)
        if len(status.details) == len(errors):
            return status
    status.message += f"; only the first {len(status.details)} have a status of their own"
    return status


def summary(errors: Sequence[TargetError | None]) -> str:
    """How many updates failed, and the first that did."""
    failed = [(number, error) for number, error in enumerate(errors) if error]
    first, error = failed[0]
    found = f"{len(failed)} of {len(errors)} updates failed; number {first}: {error}"
    return short(found)


def detail(error: TargetError | None, undone: bool, characters: int) -> AnyMessage:
    """One update's status, its message no longer than so many characters."""
    shown = p4r.Error(canonical_code=0)
    if error is not None:
        shown = p4r.Error(canonical_code=code(error))
        message = error.message
    elif undone:
        shown = p4r.Error(canonical_code=ABORTED)
        message = "not applied, since another update of the batch failed"
    if shown.canonical_code and characters:
        shown.message, shown.space = cut(message, characters), SPACE
    packed = AnyMessage()
    packed.Pack(shown)
    return packed


def cut(message: str, characters: int) -> str:
    """A message's beginning and end."""
    half = max(1, (characters - 5) // 2)
    is_short = len(message) <= characters
    return message if is_short else f"{message[:half]} ... {message[-half:]}"
