"""requirements-*.txt: every dependency has one version and the hashes of its files."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from narrows.testbed.tools import bootstrap
from tests.support.world import ROOT, environment

NAME = re.compile(r"^[A-Za-z0-9._-]+")
FILES = {"dev": ROOT / "requirements-dev.txt", "docs": ROOT / "requirements-docs.txt"}


def plain(requirement: str) -> str:
    """A project's normalized name (PEP 503)."""
    match = NAME.match(requirement)
    assert match, requirement
    return re.sub(r"[-_.]+", "-", match.group()).lower()


def pins(path: Path) -> dict[str, tuple[str, int]]:
    """Each package's version and number of hashes."""
    found = dict[str, tuple[str, int]]()
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            requirement, _, hashes = line.partition("--hash")
            name, _, version = requirement.partition(";")[0].partition("==")
            found[plain(name)] = (version.strip(), hashes.count("sha256:"))
    return found


def project() -> dict[str, list[str]]:
    """The extras of pyproject.toml with the dependencies of all, by extra."""
    tree = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    common = tree["project"]["dependencies"]
    extras = tree["project"]["optional-dependencies"]
    build = tree["build-system"]["requires"]
    return {"dev": [*common, *build, *extras["dev"]], "docs": [*common, *extras["docs"]]}


@pytest.mark.parametrize("extra", FILES)
def test_every_dependency_has_a_version_and_hashes(extra: str) -> None:
    locked = pins(FILES[extra])
    for requirement in project()[extra]:
        assert plain(requirement) in locked, f"{requirement}: run make lock"
    for name, (version, hashes) in locked.items():
        assert re.fullmatch(r"[0-9][0-9a-z.+]*", version), name
        assert hashes >= 1, name


@pytest.mark.parametrize("extra", FILES)
def test_versions_are_those_of_the_constraints(extra: str) -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    known = dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    wanted = {plain(name): version for name, version in known.items()}
    for name, (version, _) in pins(FILES[extra]).items():
        # Those of other systems are not in a list that was written on Linux.
        assert wanted.get(name, version) == version, f"{name}: run make lock"


def test_a_package_with_other_contents_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("thing.py", "")
        info = "thing-1.0.dist-info"
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(f"thing==1.0 --hash=sha256:{'0' * 64}\n")
    ran = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--no-index", "--find-links", str(tmp_path),
         "--target", str(tmp_path / "there"), "--require-hashes", "-r", str(requirements)],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode != 0
    assert "DO NOT MATCH THE HASHES" in ran.stderr.upper()


@pytest.mark.parametrize("works", ["uv", "no uv for this machine", "uv fails"])
def test_the_set_up_installs_with_hash_checking(
    works: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = list[str]()

    def exit_code(command: Sequence[str]) -> int:
        commands.append(" ".join(command))
        fails = {"no uv for this machine": "--only-binary uv", "uv fails": "bin/uv pip"}
        return int(fails.get(works, "nothing") in commands[-1])

    monkeypatch.setattr(bootstrap, "STAMP", ROOT / "no-such-stamp")
    monkeypatch.setattr(bootstrap, "exit_code", exit_code)
    monkeypatch.setattr(bootstrap, "ENGINE", ("true",))
    monkeypatch.setattr(Path, "write_text", lambda self, text: len(text))
    bootstrap.build_engine()
    *before, last = commands
    assert before and all("install" in line and "--require-hashes" in line for line in before)
    assert before[-1].endswith("--require-hashes --requirement requirements-dev.txt")
    assert ("bin/uv pip install" in before[-1]) is (works == "uv")
    assert "--no-deps --no-build-isolation --editable" in last
    assert (ROOT / bootstrap.REQUIREMENTS).is_file()


def test_other_constraints_have_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_CONSTRAINT", "UV_CONSTRAINT"):
        monkeypatch.setenv(name, "other.txt")
        assert name not in bootstrap.environment()


def test_a_requirement_has_its_hashes_and_no_others() -> None:
    both = "ab==2 \\\n    --hash=sha256:2 \\\n    --hash=sha256:3\n"
    text = f"a==1 \\\n    --hash=sha256:1\n{both}b==4\n"
    assert bootstrap.requirement("ab", text) == both
    assert bootstrap.requirement("b", text) == "b==4\n"
    with pytest.raises(bootstrap.BuildError, match="has no c"):
        bootstrap.requirement("c", text)
