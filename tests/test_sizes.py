"""No function above 70 lines, no file above 400, no folder with more than 15 files of its own."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.support.world import ROOT

ROOMS = (
    "analysis", "bench", "common", "controller", "dpdk", "engine", "hosts", "narrows", "p4",
    "queueing", "switch", "testbed", "tests", "traffic",
)  # fmt: skip
SOURCES = {".rs", ".py", ".p4", ".c", ".h"}
FUNCTION_LINES, FILE_LINES, FOLDER_FILES = 70, 400, 15

OPCODE_TABLES = {
    ("switch/src/interpreter/run.rs", "interpret"),
    ("switch/src/jit/translate/compute.rs", "op"),
}
"""A line or two per opcode; they would not read better in parts."""
LISTS = {
    "analysis/figures", "hosts/ebpf", "hosts/src/cc", "switch/tests/programs", "testbed/cli",
    "tests/packetdrill",
}  # fmt: skip
"""Folders of one file per variant, figure, program, verb or script."""
RUST_FUNCTION = re.compile(r"( *)(?:pub(?:\([\w ]+\))? )?(?:const )?(?:unsafe )?fn (\w+)")


@cache
def files() -> tuple[Path, ...]:
    """Every file of the rooms, generated and built ones left out."""
    return tuple(
        path
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*"))
        if path.is_file() and not {"target", "__pycache__"} & set(path.parts)
        and path.suffix != ".so" and not path.name.startswith("bfruntime_pb2")
    )  # fmt: skip


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def python_functions(text: str) -> Iterator[tuple[str, int]]:
    """Names and lengths in lines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def rust_functions(text: str) -> Iterator[tuple[str, int]]:
    """Names and lengths in lines, as rustfmt writes functions."""
    lines = text.splitlines()
    for start, line in enumerate(lines):
        if found := RUST_FUNCTION.match(line):
            end = f"{found[1]}}}"
            length = next((n for n, other in enumerate(lines[start:]) if other == end), 0)
            has_body = not re.match(r"[^{]*;", "".join(lines[start : start + length + 1]))
            if length and has_body:
                yield found[2], length + 1


def test_no_function_is_longer_than_70_lines() -> None:
    found = {".py": python_functions, ".rs": rust_functions}
    long = {
        (name(path), function): lines
        for path in files()
        if path.suffix in found
        for function, lines in found[path.suffix](path.read_text(encoding="utf-8"))
        if lines > FUNCTION_LINES
    }
    assert set(long) == OPCODE_TABLES, long


def test_no_source_file_is_longer_than_400_lines() -> None:
    lengths = {
        name(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in files()
        if path.suffix in SOURCES
    }
    long = {file for file, lines in lengths.items() if lines > FILE_LINES}
    assert long <= {"testbed/targets/linux/sockets.py"}


def test_no_folder_has_more_than_15_files() -> None:
    counts = Counter(name(path.parent) for path in files())
    assert {folder for folder, count in counts.items() if count > FOLDER_FILES} == LISTS


def test_a_long_function_is_found() -> None:
    assert list(python_functions("def f():\n" + "    pass\n" * 70)) == [("f", 71)]
    assert list(rust_functions("pub fn f() {\n" + "    g();\n" * 69 + "}\n")) == [("f", 71)]
    assert list(rust_functions("    fn f(&self);\n    fn g() {\n        h();\n    }\n")) == [
        ("g", 3)
    ]
