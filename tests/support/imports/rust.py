"""Imports between the modules of a Rust crate, from its sources."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.world import ROOT

USE = re.compile(r"\buse\s+([^;]+);")


INLINE_PATH = re.compile(r"(?<![\w:])((?:crate|super|self)(?:::\w+)+)")


INLINE_MODULE = re.compile(r"\bmod\s+\w+\s*\{")


def rust_files(room: str) -> list[Path]:
    return sorted(p for p in (ROOT / room).rglob("*.rs") if "target" not in p.parts)


def shipped(path: Path) -> str:
    """A Rust file without its comments, its strings and its tests."""
    text = path.read_text()
    if path.stem.endswith("tests") or "tests" in path.parts or "benches" in path.parts:
        return ""
    text = re.split(r"^#\[cfg\(test\)\]\nmod \w+ \{", text, maxsplit=1, flags=re.M)[0]
    text = re.sub(r"//.*", "", text)
    return re.sub(r'"(\\.|[^"\\])*"', '""', text)


def modules(crate: Path) -> dict[tuple[str, ...], Path]:
    """The modules of a crate by path from its root, one per file, without test modules."""
    source = crate / "src"
    found = {}
    for path in sorted(source.rglob("*.rs")):
        parts = path.relative_to(source).with_suffix("").parts
        if parts[-1] in ("mod", "lib"):
            parts = parts[:-1]
        if shipped(path):
            found[parts] = path
    return found


def use_trees(text: str) -> list[str]:
    """The paths of a `use` declaration: `a::{b, c::d}` are `a::b` and `a::c::d`."""
    text = re.sub(r"\s+as\s+\w+", "", text.strip())
    if "{" not in text:
        return [text.replace(" ", "").removesuffix("::*")]
    front, inside = text.split("{", 1)
    inside = inside.rstrip()[:-1]
    parts, depth, start = [], 0, 0
    for at, character in enumerate(inside + ","):
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            parts.append(inside[start:at])
            start = at + 1
    return [
        path for part in parts if part.strip() for path in use_trees(front.strip() + part.strip())
    ]


def without_inline_modules(text: str) -> str:
    """The text, with the paths in `mod name { ... }` as in a file of its own."""
    while match := INLINE_MODULE.search(text):
        end, depth = match.end(), 1
        while depth:
            depth += (text[end] == "{") - (text[end] == "}")
            end += 1
        inside = re.sub(r"\bsuper::", "self::", text[match.end() : end - 1])
        text = text[: match.start()] + inside + text[end:]
    return text


def rust_imports(crate: Path) -> dict[str, set[str]]:
    """The modules of a crate that each module names in a `use` or in a path.

    A module is named by its path in the crate, such as `state::table`; the root's name is `crate`.
    """
    known = modules(crate)
    graph = {}
    for module, path in known.items():
        text = re.sub(r"\bpub\([^)]*\)", "pub", without_inline_modules(shipped(path)))
        # By their files, as a macro may declare them.
        children = {other[-1] for other in known if other and other[:-1] == module}
        named = [path for use in USE.findall(text) for path in use_trees(use)]
        named += INLINE_PATH.findall(USE.sub("", text))
        for child in children:
            named += re.findall(rf"(?<![\w:]){child}::\w+", USE.sub("", text))
        used = set()
        for name in named:
            first, *rest = name.split("::")
            if first in ("crate", "self"):
                target = (*(() if first == "crate" else module), *rest)
            elif first == "super":
                up = 1
                while rest and rest[0] == "super":
                    up, rest = up + 1, rest[1:]
                target = (*module[: len(module) - up], *rest)
            elif first in children:
                target = (*module, first, *rest)
            else:
                continue
            while target not in known:
                target = target[:-1]
            used.add(target)
        graph["::".join(module) or "crate"] = {
            "::".join(other) or "crate" for other in used - {module}
        }
    return graph


def folder_circles(graph: dict[str, set[str]], separator: str) -> list[list[str]]:
    """The circles between the modules and folders of one folder, for each folder.

    A folder imports what the modules in it and below it import from outside it. A folder's own
    file (`__init__.py`, `mod.rs`) counts as one of its modules.
    """
    parts = {name: tuple(name.split(separator)) for name in graph}
    found = []
    for parent in sorted({path[:length] for path in parts.values() for length in range(len(path))}):
        among: dict[str, set[str]] = {}
        for name, used in graph.items():
            if parts[name][: len(parent)] == parent:
                inside = {other for other in used if parts[other][: len(parent)] == parent}
                nodes = {separator.join(parts[other][: len(parent) + 1]) for other in inside}
                node = separator.join(parts[name][: len(parent) + 1])
                among.setdefault(node, set()).update(nodes - {node})
        found += circles(among)
    return found


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules in which each reaches all others (Tarjan, 1972)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(node: str) -> None:
        order[node] = lowest[node] = len(order)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in order:
                visit(other)
            if other in stack:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == order[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return found
