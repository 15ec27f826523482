"""requirements-*.txt: every dependency has one version and the hashes of its files."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

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


def test_the_set_up_installs_with_hash_checking(monkeypatch: pytest.MonkeyPatch) -> None:
    from narrows.testbed.tools import bootstrap

    commands = list[str]()
    monkeypatch.setattr(bootstrap, "STAMP", ROOT / "no-such-stamp")
    monkeypatch.setattr(bootstrap, "run", lambda command: commands.append(" ".join(command)))
    monkeypatch.setattr(Path, "write_text", lambda self, text: len(text))
    bootstrap.build_engine()
    first, second = commands
    assert first.endswith("pip install --require-hashes --requirement requirements-dev.txt")
    assert "--no-deps --no-build-isolation --editable" in second
    assert (ROOT / bootstrap.REQUIREMENTS).is_file()
    monkeypatch.setenv("PIP_CONSTRAINT", "other.txt")
    assert "PIP_CONSTRAINT" not in bootstrap.environment()
