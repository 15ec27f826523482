"""Which rooms may import which, and what an engine may not use."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.support.imports.python import python_imports, python_modules, upward
from tests.support.imports.rust import circles, folder_circles, rust_files, rust_imports, shipped
from tests.support.world import ROOT

RUST_MAY = {
    "common": set(),
    "traffic": {"common"},
    "queueing": {"common"},
    "switch": {"common", "queueing"},
    "hosts": {"common", "traffic", "queueing"},
    "dpdk": {"common"},
    "fpga/driver": {"common", "queueing"},
    "engine": {"common", "traffic", "queueing", "switch", "hosts", "dpdk", "fpga/driver"},
}
"""The rooms of ours that each Rust room may depend on."""

PYTHON_MAY = {
    "schema": set(),
    "controller": {"schema"},
    "analysis": {"schema"},
    "switch": {"schema"},
    "testbed": {"schema", "controller", "analysis", "switch", "traffic"},
    "traffic": {"schema"},
    "bench": {"schema", "switch", "testbed"},
    "fpga": set(),
    "p4": set(),
}
"""The packages of ours that each Python room may import, itself aside."""

PYTHON_FOLDERS = {"schema": "common/schema"}
"""Where a Python room is, if its name does not say so."""

PYTHON_PACKAGES = {
    "schema": "common/schema",
    "traffic": "traffic",
    "switch.server": "switch/server",
    "controller": "controller",
    "analysis": "analysis",
    "testbed": "testbed",
}
"""The folder of each package of ours."""

PYTHON_LAYERS = {
    package: height
    for height, layer in enumerate(
        (
            ("schema",),
            ("traffic", "switch.server", "controller", "analysis"),
            ("analysis.export", "analysis.figures", "analysis.page"),
            (
                "analysis.report",
                "analysis.compare",
                "analysis.words",
                "analysis.reproduction",
                "analysis.reproduction_charts",
            ),
            ("testbed",),
            ("testbed.scenario",),
            ("testbed.targets",),
            ("testbed.runs",),
            ("testbed.papers",),
            ("testbed.tools",),
            ("testbed.api",),
            ("testbed.cli",),
            ("testbed.reference",),
            ("testbed.site",),
        )
    )
    for package in layer
}
"""From the bottom up: a package imports its own layer and those below."""

ENGINES = ("common", "queueing", "traffic", "switch", "hosts", "engine")

ENTRY_POINTS = re.compile(r"engine/src/python/.*\.rs")
"""Files that are an engine's way in: they may read the wall clock."""

THREADS = {
    f"engine/src/{name}.rs" for name in ("record/table", "real_time/cores", "virtual_time/threads")
}
"""Files of an engine that may start threads."""

UNSAFE = {"common/src/prefetch.rs", "switch/src/jit/host.rs"}
"""Files of an engine that say `unsafe`: one asks for memory ahead, one runs machine code."""

LAYERS = {
    "hosts": {
        "api": set(),
        "wire": set(),
        "report": {"api"},
        "rtt": {"api"},
        "outstanding": {"api"},
        "recovery": {"api", "outstanding", "rtt"},
        "cc": {"api"},
        "compat": {"api", "wire"},
        "config": {"api", "cc", "compat", "recovery", "report", "wire"},
        "app": {"config", "report"},
        "tcp": {
            "api",
            "app",
            "cc",
            "compat",
            "config",
            "outstanding",
            "recovery",
            "report",
            "rtt",
            "wire",
        },
        "udp": {"api", "app", "compat", "config", "report", "wire"},
    },
    "switch": {
        "ir": set(),
        "load": {"ir"},
        "state": {"ir"},
        "interpreter": {"ir", "state"},
        "jit": {"ir", "state", "interpreter"},
        "v1model": {"ir", "state", "interpreter", "jit"},
    },
    "engine": {
        "error": set(),
        "mailbox": set(),
        "plan": set(),
        "record": {"error", "mailbox", "plan"},
        "network": {"error", "mailbox", "plan", "record"},
        "virtual_time": {"error", "network", "plan", "record"},
        "real_time": {"error", "mailbox", "network", "plan", "record"},
    },
}
"""What each folder of a crate may import of its others; folders that are not named know all."""


FORBIDDEN = {
    "the operating system's clock": r"\b(Instant|SystemTime)\b",
    "threads": r"\bstd::thread\b|\brayon\b|\btokio\b",
    "sockets": r"\bstd::net::(Tcp|Udp)|\b(Tcp|Udp)(Stream|Listener|Socket)\b",
    "unsafe code": r"\bunsafe\b(?!_code)",
    "hash-order iteration": r"\bstd::collections::\{?[^;]*\bHash(Map|Set)\b|\bRandomState\b",
    "the platform's mathematics":
        r"(\.|\bf(32|64)::)(sin|cos|tan|tanh|exp|exp2|exp_m1|ln|ln_1p|log2|log10|pow[fi]|cbrt|hypot)\(",
    "randomness of its own": r"\bthread_rng\b|\brand::rng\b|\bOsRng\b|\bgetrandom\b",
}  # fmt: skip


@cache
def our_python() -> dict[str, set[str]]:
    """The imports of each of our Python modules."""
    return python_imports(python_modules(ROOT, PYTHON_PACKAGES))


@cache
def our_rust(crate: str) -> dict[str, set[str]]:
    """The imports of each module of a crate."""
    return rust_imports(ROOT / crate)


@pytest.mark.parametrize("room", RUST_MAY)
def test_a_rust_room_depends_on_its_neighbours_only(room: str) -> None:
    manifest = tomllib.loads((ROOT / room / "Cargo.toml").read_text())
    crates = {f"narrows-{name.split('/')[0]}": name for name in RUST_MAY}
    for table in ("dependencies", "dev-dependencies", "build-dependencies"):
        ours = {crates[name] for name in manifest.get(table, {}) if name in crates}
        assert ours <= RUST_MAY[room], f"{room}/Cargo.toml [{table}]"
    used = set()
    for path in rust_files(room):
        used |= set(re.findall(r"\bnarrows_(\w+)::", path.read_text()))
    assert used <= {name.split("/")[0] for name in RUST_MAY[room]} | {room.split("/")[0]}


@pytest.mark.parametrize("crate", ["engine", "hosts", "queueing", "switch"])
def test_a_crates_test_binary_has_every_test_file(crate: str) -> None:
    """Cargo compiles only `tests/main.rs` and its modules (`autotests = false`)."""
    folder = ROOT / crate / "tests"
    files = {path.stem for path in folder.glob("*.rs")} - {"main"}
    folders = {path.parent.name for path in folder.glob("*/mod.rs")}
    listed = re.findall(r"^mod (\w+);$", (folder / "main.rs").read_text("utf-8"), re.M)
    assert files | folders <= set(listed)


def test_every_crate_of_the_workspace_has_its_rule() -> None:
    members = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["members"]
    assert set(members) == set(RUST_MAY)


@pytest.mark.parametrize("room", ENGINES)
def test_an_engine_touches_nothing_outside_itself(room: str) -> None:
    found = []
    for path in rust_files(room):
        name = path.relative_to(ROOT).as_posix()
        if ENTRY_POINTS.fullmatch(name):
            continue
        lines = shipped(path).splitlines()
        allowed = {"threads"} if name in THREADS else set()
        if name in UNSAFE:
            allowed = {"unsafe code"}
        for what, pattern in FORBIDDEN.items():
            if what in allowed:
                continue
            guilty = [line.strip() for line in lines if re.search(pattern, line)]
            found += [f"{name}: {what}: {line}" for line in guilty]
    assert not found, "\n".join(found)


def test_one_room_of_the_engine_knows_python() -> None:
    for path in rust_files("engine"):
        if "pyo3" in shipped(path):
            assert path.is_relative_to(ROOT / "engine/src/python"), path


@pytest.mark.parametrize("crate", RUST_MAY)
def test_the_modules_of_a_crate_import_each_other_in_no_circle(crate: str) -> None:
    assert circles(our_rust(crate)) == []


@pytest.mark.parametrize("crate", RUST_MAY)
def test_the_folders_of_a_crate_import_each_other_in_no_circle(crate: str) -> None:
    assert folder_circles(our_rust(crate), "::") == []


@pytest.mark.parametrize("crate", LAYERS)
def test_a_layer_of_a_crate_imports_those_below_it_only(crate: str) -> None:
    layers, found = LAYERS[crate], []
    for module, used in our_rust(crate).items():
        folder = module.split("::")[0]
        if folder in layers:
            others = {other.split("::")[0] for other in used} - {folder}
            found += [f"{module} imports {other}" for other in sorted(others - layers[folder])]
    assert not found, "\n".join(found)


def test_circles_are_found(tmp_path: Path) -> None:
    """Of every way to name a module, those in tests left out."""
    files = {
        "lib.rs": "mod a;\nmod b;\npub use a::A;\n",
        "a/mod.rs": "mod child;\nuse crate::b::{self, c::{D, E}};\npub struct A;\n",
        "a/child.rs": "fn f() -> super::super::b::B { todo!() }\n",
        "b.rs": "mod inner {\n    use super::B;\n}\n"
        "#[cfg(test)]\nmod tests {\n    use crate::A;\n}\n",
    }
    for name, text in files.items():
        path = tmp_path / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    graph = rust_imports(tmp_path)
    assert graph == {"crate": {"a"}, "a": {"b"}, "a::child": {"b"}, "b": set()}
    assert circles(graph) == []
    (tmp_path / "src/b.rs").write_text("use crate::a::child::C;\n")
    assert circles(rust_imports(tmp_path)) == [["a::child", "b"]]


def test_a_circle_with_a_module_that_a_macro_declares_is_found(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/lib.rs").write_text("list! { one }\npub const ALL: u8 = one::NUMBER;\n")
    (tmp_path / "src/one.rs").write_text("use crate::ALL;\n")
    assert circles(rust_imports(tmp_path)) == [["crate", "one"]]


def imports(path: Path) -> set[str]:
    """The packages that a Python file imports, anywhere in it; ours by their rooms."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import hides whose it is"
            module = node.module or ""
            found |= (
                {f"narrows.{alias.name}" for alias in node.names}
                if module == "narrows"
                else {module}
            )
    return {name.removeprefix("narrows.").split(".")[0] for name in found}


def test_python_modules_import_each_other_in_no_circle() -> None:
    found = circles(our_python())
    assert not found, "\n".join(map(", ".join, found))


def test_python_packages_import_each_other_in_no_circle() -> None:
    found = folder_circles(our_python(), ".")
    assert not found, "\n".join(map(", ".join, found))


def test_circles_between_folders_are_found() -> None:
    """In each folder, also where no two modules import each other."""
    graph = {
        "low": set[str](),
        "low.one": {"low"},
        "low.two.a": {"low.one", "low.two"},
        "low.two": set[str](),
        "high": {"low.two"},
    }
    assert folder_circles(graph, ".") == []
    graph |= {"low.one": {"low.two.b"}, "low.two.b": set()}
    assert circles(graph) == []
    assert folder_circles(graph, ".") == [["low.one", "low.two"]]


def test_a_python_package_imports_those_below_it_only() -> None:
    graph = our_python()
    assert not upward(graph, PYTHON_LAYERS)


def test_python_circles_and_arrows_back_up_are_found(tmp_path: Path) -> None:
    texts = {
        "low/base.py": "from narrows.low import other",
        "low/other.py": "def f():\n    from narrows.low.base import g\n",
        "low/wrong.py": "import narrows.high.top",
        "high/__init__.py": "if TYPE_CHECKING:\n    from narrows.low.base import name",
        "high/top.py": "import json",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    graph = python_imports(python_modules(tmp_path, {"low": "low", "high": "high"}))
    assert graph["high"] == {"low.base"}
    assert circles(graph) == [["low.base", "low.other"]]
    assert upward(graph, {"low": 0, "high": 1}) == ["low.wrong imports high.top"]
    assert "high.top has no layer" in upward(graph, {"low": 0})


@pytest.mark.parametrize("room", PYTHON_MAY)
def test_a_python_room_imports_its_neighbours_only(room: str) -> None:
    ours = {*PYTHON_MAY, "tests"}
    for path in sorted((ROOT / PYTHON_FOLDERS.get(room, room)).rglob("*.py")):
        used = imports(path) & ours - {room}
        assert used <= PYTHON_MAY[room], f"{path.relative_to(ROOT)} imports {used}"


def test_setup_and_doctor_need_the_standard_library_only() -> None:
    for name in ("tools/bootstrap", "tools/doctor", "tools/__init__", "needs", "paths", "__init__"):
        used = imports(ROOT / "testbed" / f"{name}.py")
        assert used <= set(sys.stdlib_module_names) | {"testbed"}
    for name in ("compile", "tofino"):
        assert imports(ROOT / f"p4/{name}.py") <= set(sys.stdlib_module_names)


@pytest.mark.parametrize(
    ("imported", "left_out"),
    [
        (
            "narrows.testbed.runs.worker, narrows.testbed.targets.sim.run",
            {"pydantic", "rich", "polars", "matplotlib"},
        ),
        (
            "narrows.testbed.cli.tables, narrows.testbed.scenario.sweep",
            {"grpc", "polars"},
        ),
        # Until the first worker has been started.
        (
            "narrows.testbed.cli.main, narrows.testbed.runs.worker_process",
            {"pydantic", "rich", "dpkt", "narrows.testbed.scenario.sweep"},
        ),
    ],
)
def test_a_process_of_a_run_loads_what_it_needs(imported: str, left_out: set[str]) -> None:
    """Each of these takes a tenth of a second and more to import, at every start."""
    script = f"import sys, {imported}; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert "json" in loaded
    assert not left_out & set(loaded)


def test_the_rules_can_fail(tmp_path: Path) -> None:
    """The patterns above find what they forbid."""
    guilty = {
        "the operating system's clock": "let now = std::time::Instant::now();",
        "threads": "std::thread::spawn(run);",
        "sockets": "let s = UdpSocket::bind(address);",
        "unsafe code": "unsafe { *p }",
        "hash-order iteration": "use std::collections::{BTreeMap, HashMap};",
        "the platform's mathematics": "let y = x.powf(0.75);",
        "randomness of its own": "let mut rng = rand::rng();",
    }
    assert set(guilty) == set(FORBIDDEN)
    for what, line in guilty.items():
        assert re.search(FORBIDDEN[what], line), what
    path = tmp_path / "engine.rs"
    path.write_text(
        '// Instant\nlet s = "Instant";\n#[cfg(test)]\nmod tests {\nInstant::now()\n}\n'
    )
    assert "Instant" not in shipped(path)
