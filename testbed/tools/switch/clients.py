"""The file of `--grpc-server-clients`: what the owner of each certificate may do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from narrows.switch.server.access import ANY, Access, Level, Rights
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.explain import explain
from narrows.testbed.scenario.values import Model


class Client(Model):
    """A `[[client]]`: a name in certificates, and its rights."""

    name: Annotated[str, Field(min_length=1)]
    roles: list[str] = Field(default_factory=list)
    objects: list[str] = Field(default_factory=lambda: [ANY])
    read: bool = False
    push: bool = False
    gnmi: Level = "none"


class Clients(Model):
    """The whole file."""

    client: list[Client] = Field(default_factory=list)


def read_access(path: Path) -> Access:
    """Reads the file. Raises `InputError` with all problems."""
    try:
        clients = Clients.model_validate(sweep.read_toml(path)).client
    except ValidationError as error:
        raise InputError(str(path), explain(error, Clients)) from None
    names = [client.name for client in clients]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        what = "is repeated; expected one [[client]] for each name"
        raise InputError(str(path), [Problem("client.name", what, name) for name in repeated])
    return Access({client.name: rights(client) for client in clients})


def rights(client: Client) -> Rights:
    """The rights that a `[[client]]` grants."""
    return Rights(
        certificate=client.name,
        roles=frozenset(client.roles),
        objects=frozenset(client.objects),
        reads=client.read,
        can_push=client.push,
        gnmi=client.gnmi,
    )
