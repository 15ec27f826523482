"""Errors as gRPC statuses: one per call, or one per update of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import grpc
from finsy.proto import p4r, rpc_status
from google.protobuf.any_pb2 import Any as AnyMessage

from narrows.switch.server.target import Kind, TargetError

CODES: dict[Kind, grpc.StatusCode] = {
    "not-found": grpc.StatusCode.NOT_FOUND,
    "already-exists": grpc.StatusCode.ALREADY_EXISTS,
    "invalid-argument": grpc.StatusCode.INVALID_ARGUMENT,
    "out-of-range": grpc.StatusCode.OUT_OF_RANGE,
    "resource-exhausted": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "permission-denied": grpc.StatusCode.PERMISSION_DENIED,
    "failed-precondition": grpc.StatusCode.FAILED_PRECONDITION,
    "unimplemented": grpc.StatusCode.UNIMPLEMENTED,
}
ABORTED = int(grpc.StatusCode.ABORTED.value[0])
DETAILS = "grpc-status-details-bin"
"""The trailing metadata that holds a `google.rpc.Status`."""
SPACE = "narrows"
"""The error space of our messages."""


def code(error: TargetError) -> int:
    """The canonical code's number."""
    return int(CODES[error.kind].value[0])


def abort(context: grpc.ServicerContext, error: TargetError) -> NoReturn:
    """Ends the call with the error."""
    context.abort(CODES[error.kind], error.message)
    raise AssertionError("abort raises")


def abort_batch(
    context: grpc.ServicerContext, errors: Sequence[TargetError | None], undone: bool
) -> NoReturn:
    """Ends a Write with a status for each update, in order. With `undone`, updates without an error
    were not applied either.
    """
    status = rpc_status.Status(code=int(grpc.StatusCode.UNKNOWN.value[0]))
    failed = [(number, error) for number, error in enumerate(errors) if error]
    first, error = failed[0]
    status.message = f"{len(failed)} of {len(errors)} updates failed; number {first}: {error}"
    for found in errors:
        if found is not None:
            shown = p4r.Error(canonical_code=code(found), message=found.message, space=SPACE)
        elif undone:
            message = "not applied, since another update of the batch failed"
            shown = p4r.Error(canonical_code=ABORTED, message=message, space=SPACE)
        else:
            shown = p4r.Error(canonical_code=0)
        packed = AnyMessage()
        packed.Pack(shown)
        status.details.append(packed)
    context.set_trailing_metadata(((DETAILS, status.SerializeToString()),))
    context.abort(grpc.StatusCode.UNKNOWN, status.message)
    raise AssertionError("abort raises")
