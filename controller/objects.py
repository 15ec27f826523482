"""State of a switch other than table entries: groups, sessions, profiles, meters, value sets.

Plain data as in `controller.state`: each prints as one line and converts to and from JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from narrows.controller.matches import Match, match_from_json, number

if TYPE_CHECKING:
    from narrows.schema import plan, switch


@dataclass(frozen=True)
class Count:
    """A counter's value."""

    packets: int
    octets: int


@dataclass(frozen=True, order=True)
class Replica:
    """A copy of a packet: its port, and the instance (replication id) that distinguishes copies."""

    port: int
    instance: int = 0

    def as_json(self) -> switch.Replica:
        """The replica in the plan's format."""
        return {"port": self.port, "rid": self.instance}

    @classmethod
    def from_json(cls, content: switch.Replica) -> Replica:
        """The inverse of `as_json`. Raises `KeyError`."""
        return cls(content["port"], content.get("rid", 0))

    def __str__(self) -> str:
        return f"{self.port}/{self.instance}" if self.instance else str(self.port)


def in_order(replicas: Iterable[Replica]) -> str:
    """Replicas as sorted text, since bmv2 returns them in its own order."""
    return ",".join(map(str, sorted(replicas)))


@dataclass(frozen=True)
class CloneSession:
    """The ports of a session's clones, and the truncation length in bytes (None: whole packets)."""

    id: int
    replicas: tuple[Replica, ...]
    truncate_bytes: int | None = None

    def as_json(self) -> switch.CloneSession:
        """The session in the plan's format."""
        replicas = [replica.as_json() for replica in self.replicas]
        return {"id": self.id, "replicas": replicas, "truncate_bytes": self.truncate_bytes}

    @classmethod
    def from_json(cls, content: switch.CloneSession) -> CloneSession:
        """The inverse of `as_json`. Raises `KeyError`."""
        replicas = tuple(map(Replica.from_json, content["replicas"]))
        return cls(content["id"], replicas, content.get("truncate_bytes"))

    @property
    def key(self) -> int:
        """Identity of the session."""
        return self.id

    def __str__(self) -> str:
        cut = f" truncate={self.truncate_bytes}" if self.truncate_bytes is not None else ""
        return f"clone session {self.id} -> {in_order(self.replicas)}{cut}"


@dataclass(frozen=True)
class MulticastGroup:
    """The ports of a multicast packet's copies."""

    id: int
    replicas: tuple[Replica, ...]

    def as_json(self) -> plan.MulticastGroup:
        """The group in the plan's format."""
        return {"id": self.id, "replicas": [replica.as_json() for replica in self.replicas]}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> MulticastGroup:
        """The inverse of `as_json`. Raises `KeyError`."""
        return cls(content["id"], tuple(map(Replica.from_json, content["replicas"])))

    @property
    def key(self) -> int:
        """Identity of the group."""
        return self.id

    def __str__(self) -> str:
        return f"multicast group {self.id} -> {in_order(self.replicas)}"


@dataclass(frozen=True)
class ProfileMember:
    """An action of an action profile; entries and groups refer to it by number."""

    profile: str
    id: int
    action: str
    params: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """The member as JSON."""
        params = {name: hex(value) for name, value in self.params.items()}
        return {"profile": self.profile, "id": self.id, "action": self.action, "params": params}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> ProfileMember:
        """The inverse of `as_json`. Raises `KeyError` or `ValueError`."""
        params = {name: number(value) for name, value in content["params"].items()}
        return cls(content["profile"], content["id"], content["action"], params)

    @property
    def key(self) -> tuple[str, int]:
        """Identity of the member."""
        return self.profile, self.id

    def __str__(self) -> str:
        params = ", ".join(f"{name}={value:#x}" for name, value in self.params.items())
        return f"{self.profile} member {self.id} -> {self.action}({params})"


@dataclass(frozen=True)
class ProfileGroup:
    """Members of an action selector, with their weights."""

    profile: str
    id: int
    members: tuple[tuple[int, int], ...]

    def as_json(self) -> dict[str, Any]:
        """The group as JSON."""
        members = [list(pair) for pair in self.members]
        return {"profile": self.profile, "id": self.id, "members": members}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> ProfileGroup:
        """The inverse of `as_json`. Raises `KeyError` or `ValueError`."""
        members = tuple((member, weight) for member, weight in content["members"])
        return cls(content["profile"], content["id"], members)

    @property
    def key(self) -> tuple[str, int]:
        """Identity of the group."""
        return self.profile, self.id

    def __str__(self) -> str:
        members = ", ".join(f"{member} weight={weight}" for member, weight in sorted(self.members))
        return f"{self.profile} group {self.id} -> {members or 'nothing'}"


@dataclass(frozen=True)
class MeterCell:
    """A configured meter cell: rates per second and bursts, in the program's unit (bytes or
    packets).
    """

    meter: str
    index: int
    cir: int
    cburst: int
    pir: int
    pburst: int

    def as_json(self) -> dict[str, Any]:
        """The cell as JSON."""
        return vars(self).copy()

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> MeterCell:
        """The inverse of `as_json`. Raises `TypeError` if a part is missing."""
        return cls(**content)

    @property
    def key(self) -> tuple[str, int]:
        """Identity of the cell."""
        return self.meter, self.index

    def __str__(self) -> str:
        rates = f"cir={self.cir} cburst={self.cburst} pir={self.pir} pburst={self.pburst}"
        return f"{self.meter}[{self.index}] = {rates}"


@dataclass(frozen=True)
class ValueSet:
    """The members of a parser value set: matches by the names of the key's fields. A single unnamed
    field has an empty name.
    """

    name: str
    members: tuple[Mapping[str, Match], ...]

    def as_json(self) -> dict[str, Any]:
        """The set as JSON."""
        members = [{part: one.as_json() for part, one in m.items()} for m in self.members]
        return {"name": self.name, "members": members}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> ValueSet:
        """The inverse of `as_json`. Raises `KeyError` or `ValueError`."""
        members = (
            {part: match_from_json(match) for part, match in member.items()}
            for member in content["members"]
        )
        return cls(content["name"], tuple(members))

    @property
    def key(self) -> str:
        """Identity of the set."""
        return self.name

    def __str__(self) -> str:
        def shown(member: Mapping[str, Match]) -> str:
            return " ".join(f"{part}={one}" if part else str(one) for part, one in member.items())

        return f"value set {self.name} = {{{', '.join(sorted(map(shown, self.members)))}}}"


@dataclass(frozen=True)
class RegisterCell:
    """A register cell with a non-zero initial value."""

    register: str
    index: int
    value: int

    def as_json(self) -> plan.RegisterPlan:
        """The cell in the plan's format."""
        return {"register": self.register, "index": self.index, "value": hex(self.value)}

    @classmethod
    def from_json(cls, content: plan.RegisterPlan) -> RegisterCell:
        """The inverse of `as_json`. Raises `KeyError` or `ValueError`."""
        return cls(content["register"], content["index"], number(content["value"]))

    @property
    def key(self) -> tuple[str, int]:
        """Identity of the cell."""
        return self.register, self.index

    def __str__(self) -> str:
        return f"{self.register}[{self.index}] = {self.value:#x}"
