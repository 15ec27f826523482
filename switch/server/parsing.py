"""Requests are parsed in their handlers.

grpcio 1.85.1 keeps the call of a request that its deserializer can't read, 19 KB each time. So a
server gets requests as bytes, and a handler that parses them answers INVALID_ARGUMENT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import grpc
from google.protobuf.message import DecodeError

Parse = Callable[[bytes], Any]
Behaviour = Callable[[Any, grpc.ServicerContext], Any]


class Parsing:
    """What the generated `add_...Servicer_to_server` functions take for a server. It gives their
    handlers to `server` so that they parse their requests themselves.
    """

    def __init__(self, server: grpc.Server) -> None:
        self._server = server

    def add_generic_rpc_handlers(self, handlers: Any) -> None:
        """The same handlers come by name; gRPC needs them once."""

    def add_registered_method_handlers(
        self, service: str, handlers: Mapping[str, grpc.RpcMethodHandler[Any, Any]]
    ) -> None:
        """Adds a service's handlers."""
        made = {name: parsing(handler) for name, handler in handlers.items()}
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(service, made),)
        )
        self._server.add_registered_method_handlers(service, made)


def parsing(handler: Any) -> grpc.RpcMethodHandler[Any, Any]:
    """A handler that parses its requests itself. It may answer with serialized messages."""
    parse, behaviour, is_streamed = handler.request_deserializer, behaviour_of(handler), False
    make: Callable[..., grpc.RpcMethodHandler[Any, Any]]
    match handler.request_streaming, handler.response_streaming:
        case False, False:
            make = grpc.unary_unary_rpc_method_handler
        case False, True:
            make, is_streamed = grpc.unary_stream_rpc_method_handler, True
        case True, False:
            make = grpc.stream_unary_rpc_method_handler
        case _:
            make, is_streamed = grpc.stream_stream_rpc_method_handler, True
    read = parsed_each if handler.request_streaming else parsed
    wrapped = streaming(behaviour, parse, read) if is_streamed else single(behaviour, parse, read)
    serialize = handler.response_serializer

    def written(message: Any) -> bytes:
        return message if isinstance(message, bytes) else bytes(serialize(message))

    return make(wrapped, request_deserializer=None, response_serializer=written)


def behaviour_of(handler: Any) -> Behaviour:
    """The servicer's method."""
    all_kinds = (handler.unary_unary, handler.unary_stream, handler.stream_unary)
    found: Behaviour = next((one for one in all_kinds if one), handler.stream_stream)
    return found


def single(behaviour: Behaviour, parse: Parse, read: Callable[..., Any]) -> Behaviour:
    """A method with one answer."""
    return lambda request, context: behaviour(read(request, context, parse), context)


def streaming(behaviour: Behaviour, parse: Parse, read: Callable[..., Any]) -> Behaviour:
    """A method with a stream of answers."""

    def answer(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        yield from behaviour(read(request, context, parse), context)

    return answer


def parsed(request: bytes, context: grpc.ServicerContext, parse: Parse) -> Any:
    """One request; ends the call where it can't be read."""
    try:
        return parse(request)
    except DecodeError:
        refuse(context)


def parsed_each(
    requests: Iterator[bytes], context: grpc.ServicerContext, parse: Parse
) -> Iterator[Any]:
    """A stream of requests."""
    for request in requests:
        yield parsed(request, context, parse)


def refuse(context: grpc.ServicerContext) -> NoReturn:
    """Ends a call whose request is not the message that it should be."""
    context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the request can't be parsed")
    raise AssertionError("abort raises")
