"""Matches requested paths against the tree of `leaves`, and reads and writes JSON (RFC 7951).

In a path, `*` matches any element or key value, `...` matches any number of elements, and a missing
key matches every value.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from narrows.switch.server.gnmi.leaves import (
    DECIMAL,
    MODULES,
    PORT,
    Elem,
    Leaf,
    TrafficManager,
    Value,
    at_port,
    show,
)
from narrows.switch.server.target import PortState

Wanted = Sequence[tuple[str, dict[str, str]]]
"""A requested path: names, and the keys given."""


class PathError(Exception):
    """A path that is not in the tree. `is_syntax` is true if no state of the target
    could have it.
    """

    def __init__(self, message: str, *, is_syntax: bool = False) -> None:
        super().__init__(message)
        self.is_syntax = is_syntax


@dataclass(frozen=True)
class Found:
    """A leaf at a port, and the number of its elements that the requested path matched."""

    leaf: Leaf
    port: int
    path: tuple[Elem, ...]
    depth: int


def show_wanted(wanted: Wanted) -> str:
    """A requested path as text."""
    return show(tuple((name, tuple(sorted(keys.items()))) for name, keys in wanted))


def fits(elem: Elem, name: str, keys: dict[str, str]) -> bool:
    """True if an element of a leaf's path matches, for any port."""
    own, pairs = elem
    if name not in ("*", own):
        return False
    here = dict(pairs)
    return all(
        key in here and (value == "*" or here[key] in (PORT, value)) for key, value in keys.items()
    )


def match(path: tuple[Elem, ...], wanted: Wanted) -> int | None:
    """The number of elements of `path` that the wanted ones cover from the root; None if they do
    not match.
    """
    if not wanted:
        return 0
    (name, keys), rest = wanted[0], wanted[1:]
    if name == "...":
        for skipped in range(len(path) + 1):
            depth = match(path[skipped:], rest)
            if depth is not None:
                return len(path) if not rest else skipped + depth
        return None
    if not path or not fits(path[0], name, keys):
        return None
    depth = match(path[1:], rest)
    return None if depth is None else depth + 1


def wrong_key(text: str, elems: Sequence[Elem], keys: dict[str, str]) -> PathError:
    """Describes an unknown key, or a key value without an entry; `elems` are the known entries."""
    name, pairs = elems[0]
    for key, value in keys.items():
        if key not in dict(pairs):
            known = f"its key is '{pairs[0][0]}'" if pairs else "it has no keys"
            return PathError(f"{text}: {name} has no key '{key}': {known}", is_syntax=True)
        values = dict.fromkeys(dict(entry)[key] for _, entry in elems)
        if value not in ("*", *values) and PORT not in values:
            what = f"expected {', '.join(values)}"
            return PathError(f"{text}: there is no {name}[{key}={value}]: {what}")
    return PathError(f"{text}: there is no such path", is_syntax=True)


@dataclass(frozen=True)
class Tree:
    """The leaves of every port of a target."""

    leaves: tuple[Leaf, ...]

    def leaves_of(self, wanted: Wanted) -> list[tuple[Leaf, int]]:
        """The leaves that a path selects, for any port. Raises `PathError`."""
        depths = ((leaf, match(leaf.path, wanted)) for leaf in self.leaves)
        found = [(leaf, depth) for leaf, depth in depths if depth is not None]
        if not found:
            raise self.why_not(wanted)
        return found

    def why_not(self, wanted: Wanted) -> PathError:
        """The error for a path that selects no leaf; names the first unmatched element."""
        text = show_wanted(wanted)
        for length in range(1, len(wanted) + 1):
            if any(match(leaf.path, wanted[:length]) is not None for leaf in self.leaves):
                continue
            name, keys = wanted[length - 1]
            before = wanted[: length - 1]
            next_elems = dict[str, list[Elem]]()
            for leaf in self.leaves:
                depth = match(leaf.path, before)
                if depth is not None and depth < len(leaf.path):
                    next_elems.setdefault(leaf.path[depth][0], []).append(leaf.path[depth])
            at = show_wanted(before)
            if not next_elems:
                return PathError(f"{text}: {at} is a leaf and has no children", is_syntax=True)
            if name in next_elems:
                return wrong_key(text, next_elems[name], keys)
            close = difflib.get_close_matches(name, next_elems, 1)
            hint = f" (did you mean '{close[0]}'?)" if close else ""
            names = ", ".join(sorted(next_elems))
            return PathError(f"{text}: {at} has no '{name}'{hint}; it has {names}", is_syntax=True)
        return PathError(f"{text}: there is no such path", is_syntax=True)

    def find(self, wanted: Wanted, queues: Mapping[int, int]) -> list[Found]:
        """The leaves that a path selects, port by port; none for a port or a queue that does not
        exist. `queues`: how many queues each port has.

        Raises `PathError` for a path outside the models.
        """
        leaves = self.leaves_of(wanted)
        found = []
        for port in sorted(queues):
            for leaf, _ in leaves:
                if leaf.queue is not None and leaf.queue >= queues[port]:
                    continue
                path = at_port(leaf.path, port)
                depth = match(path, wanted)
                if depth is not None:
                    found.append(Found(leaf, port, path, depth))
        return found

    def flatten(self, path: Wanted, content: Any) -> Iterator[tuple[Wanted, Any]]:
        """The leaves of a JSON value written at a path, each with its own path."""
        if isinstance(content, dict):
            for name, below in content.items():
                bare = name.rpartition(":")[2]
                if isinstance(below, list):
                    for one in below:
                        keys = self.list_keys(path, bare, one)
                        rest = {key: value for key, value in one.items() if key not in keys}
                        yield from self.flatten([*path, (bare, keys)], rest)
                else:
                    yield from self.flatten([*path, (bare, {})], below)
        else:
            yield path, content

    def list_keys(self, path: Wanted, name: str, content: Any) -> dict[str, str]:
        """Reads a list entry's keys from its content. Raises `PathError`."""
        keys = dict[str, str]()
        leaves = self.leaves_of([*path, (name, {})])
        known = {key for leaf, depth in leaves for key, _ in leaf.path[depth - 1][1]}
        at = show_wanted([*path, (name, {})])
        for key in sorted(known):
            if not isinstance(content, dict) or key not in content:
                raise PathError(f"{at}: expected an entry with its key '{key}'", is_syntax=True)
            keys[key] = str(content[key])
        if not isinstance(content, dict):
            raise PathError(f"{at}: '{content}': expected an entry of a list", is_syntax=True)
        return keys


def values(
    target: TrafficManager, found: Iterable[Found], keep: Callable[[Leaf], bool]
) -> Iterator[tuple[Found, Value]]:
    """The leaves with their values, without those that `keep` rejects or that have none."""
    states = dict[int, PortState]()
    for one in found:
        if not keep(one.leaf):
            continue
        if one.port not in states:
            states[one.port] = target.port_state(one.port)
        value = one.leaf.read(states[one.port])
        if value is not None:
            yield one, value


def as_json(leaf: Leaf, value: Value, *, ietf: bool) -> Any:
    """A leaf's JSON value; 64-bit integers and decimals are strings (RFC 7951)."""
    if leaf.kind.is_integer:
        value = int(value)
    if leaf.kind.name == DECIMAL.name:
        value = float(value)
    if ietf and leaf.kind.is_wide:
        return str(value)
    return value


def subtree(leaves: Sequence[tuple[Found, Value]], depth: int, *, ietf: bool) -> Any:
    """The leaves below the element at `depth` as one JSON value.

    A name carries its module if the parent's module differs, so top-level names always do (RFC 7951
    section 4).
    """
    first, value = leaves[0]
    if len(first.path) == depth:
        return as_json(first.leaf, value, ietf=ietf)
    top = dict[str, Any]()
    for found, value in leaves:
        module = MODULES[found.path[0][0]]
        at = top
        for index in range(depth, len(found.path)):
            name, keys = found.path[index]
            is_leaf = index == len(found.path) - 1
            own = found.leaf.module if is_leaf and found.leaf.module else module
            qualified = f"{own}:{name}" if ietf and (index == depth or own != module) else name
            if is_leaf:
                at[qualified] = as_json(found.leaf, value, ietf=ietf)
            elif keys:
                at = entry(at.setdefault(qualified, []), keys)
            else:
                at = at.setdefault(qualified, {})
    return top


def entry(entries: list[dict[str, Any]], keys: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """The list's entry with these keys, created if missing."""
    wanted = {key: int(value) if key == "sequence" else value for key, value in keys}
    for one in entries:
        if all(one[key] == value for key, value in wanted.items()):
            return one
    entries.append(dict(wanted))
    return entries[-1]
