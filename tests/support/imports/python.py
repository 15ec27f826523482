"""Finds which Python module imports which, from the source, for tests/test_architecture.py."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

Graph = dict[str, set[str]]


def python_modules(root: Path, folders: Mapping[str, str]) -> dict[str, Path]:
    """Every module of these packages (folder by package) by its name below `narrows`."""
    found = {}
    for package, folder in folders.items():
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root / folder).with_suffix("").parts
            name = ".".join([package, *parts])
            found[name.removesuffix(".__init__")] = path
    return found


def python_imports(modules: Mapping[str, Path]) -> Graph:
    """The imports of each module among these modules, anywhere in its file, also in functions and
    for types.

    `from package import module` is an import of the module.
    """
    return {
        name: {imported for imported in _imported(path, modules) if imported != name}
        for name, path in modules.items()
    }


def _imported(path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (each for alias in node.names if (each := _ours(alias.name)) in modules)
        elif isinstance(node, ast.ImportFrom):
            package = _ours(node.module or "")
            for alias in node.names:
                below = f"{package}.{alias.name}".removeprefix(".")
                if below in modules:
                    yield below
                elif package in modules:
                    yield package


def _ours(name: str) -> str:
    return name.removeprefix("narrows").removeprefix(".")


def upward(graph: Graph, layers: Mapping[str, int]) -> list[str]:
    """The imports from a lower layer to a higher one, and the modules that have no layer.

    `layers` has a height by package; a module has that of its longest prefix.
    """
    found = []
    for name in sorted(graph):
        if height(name, layers) is None:
            found.append(f"{name} has no layer")
            continue
        for imported in sorted(graph[name]):
            above, below = height(imported, layers), height(name, layers)
            if above is not None and below is not None and above > below:
                found.append(f"{name} imports {imported}")
    return found


def height(module: str, layers: Mapping[str, int]) -> int | None:
    """The layer of a module."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        if (name := ".".join(parts[:length])) in layers:
            return layers[name]
    return None
