"""The workflows for GitHub, which cannot run here: their form, and the commands that they run."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from narrows.testbed.site import __main__ as site
from tests.support.world import ROOT

FILES = {path.name: path for path in sorted((ROOT / ".github/workflows").glob("*.yml"))}
WORKFLOWS: dict[str, dict[str, Any]] = {
    # YAML 1.1 reads the key `on` as true.
    name: yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)
    for name, path in FILES.items()
}
JOBS = [
    pytest.param(flow, name, job, id=f"{flow}-{name}")
    for flow, found in WORKFLOWS.items()
    for name, job in found["jobs"].items()
]
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
PAGES = WORKFLOWS["pages.yml"]["jobs"]


def steps(key: str) -> Iterator[tuple[str, str]]:
    """(workflow, value) of every step with this key."""
    for name, found in WORKFLOWS.items():
        for job in found["jobs"].values():
            yield from ((name, step[key]) for step in job["steps"] if key in step)


def runners(job: dict[str, Any]) -> set[str]:
    """The machines of a job; a matrix has them as `runner`."""
    if job["runs-on"] != "${{ matrix.runner }}":
        return {job["runs-on"]}
    matrix = job["strategy"]["matrix"]
    return {*matrix.get("runner", []), *(entry["runner"] for entry in matrix.get("include", []))}


@pytest.mark.parametrize("flow", WORKFLOWS)
def test_a_workflow_has_events_and_least_permissions(flow: str) -> None:
    found = WORKFLOWS[flow]
    assert set(found["on"]) <= {"push", "pull_request", "workflow_dispatch"} and found["on"]
    assert found["permissions"] == {"contents": "read"}


@pytest.mark.parametrize(("flow", "name", "job"), JOBS)
def test_a_jobs_needs_and_steps_exist(flow: str, name: str, job: dict[str, Any]) -> None:
    assert runners(job) <= {"ubuntu-24.04", "ubuntu-24.04-arm"}
    assert "needs" not in job or job["needs"] in WORKFLOWS[flow]["jobs"]
    assert all(("uses" in step) != ("run" in step) for step in job["steps"]), name
    known = {step["id"] for step in job["steps"] if "id" in step}
    used = set(re.findall(r"steps\.(\w+)\.outputs", str(job)))
    assert used <= known


@pytest.mark.parametrize("flow", FILES)
def test_an_expression_names_a_context(flow: str) -> None:
    for expression in EXPRESSION.findall(FILES[flow].read_text(encoding="utf-8")):
        assert re.fullmatch(r"(github|steps|needs|matrix|env)(\.[\w-]+)+", expression)


@pytest.mark.parametrize(("flow", "action"), sorted(set(steps("uses"))))
def test_an_action_has_a_major_version(flow: str, action: str) -> None:
    # PyPI's own action for trusted publishing has a branch for each major version.
    assert re.fullmatch(r"actions/[a-z-]+@v\d+|pypa/gh-action-pypi-publish@release/v\d+", action)


@pytest.mark.parametrize(("flow", "script"), sorted(set(steps("run"))))
def test_a_script_is_valid_shell(flow: str, script: str) -> None:
    ran = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
    assert ran.returncode == 0, f"{flow}: {ran.stderr}"


@pytest.mark.parametrize(("flow", "script"), sorted(set(steps("run"))))
def test_a_scripts_verbs_and_python_are_the_trees(flow: str, script: str) -> None:
    verbs = re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    for verb in re.findall(r"\bmake ([a-z0-9-]+)", script):
        assert verb in verbs, f"{flow}: make {verb}"
    words = shlex.split(script)
    for program in (after for word, after in pairwise(words) if word == "-c"):
        for statement in ast.parse(program).body:
            if isinstance(statement, ast.ImportFrom):
                exec(compile(ast.Module([statement], []), flow, "exec"), {})


def test_the_pages_are_built_by_make_docs_and_uploaded() -> None:
    runs = [step["run"] for step in PAGES["build"]["steps"] if "run" in step]
    assert runs[-1] == "make docs"
    [upload] = [step for step in PAGES["build"]["steps"] if "upload-pages" in step.get("uses", "")]
    assert ROOT / upload["with"]["path"] == site.SITE


def test_only_the_deployment_may_write_pages() -> None:
    assert "permissions" not in PAGES["build"]
    assert PAGES["deploy"]["permissions"] == {"pages": "write", "id-token": "write"}
    assert PAGES["deploy"]["needs"] == "build"


def test_the_python_of_the_workflows_is_the_oldest_supported() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        oldest = tomllib.load(file)["project"]["requires-python"].removeprefix(">=")
    found = re.findall(r'python-version: "(.*)"', "".join(map(Path.read_text, FILES.values())))
    assert found and set(found) == {oldest}


def test_make_docs_and_the_site_module_are_the_same() -> None:
    ran = subprocess.run(
        ["make", "-n", "docs"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "-m narrows.testbed.site" in ran.stdout.splitlines()[-1]


def test_only_publishing_jobs_may_write() -> None:
    """With a tag only, and to PyPI without a token."""
    publish = WORKFLOWS["wheels.yml"]["jobs"]["publish"]
    assert publish["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert publish["permissions"] == {"id-token": "write"} and publish["needs"] == "test"
    others = [job for name, job in WORKFLOWS["wheels.yml"]["jobs"].items() if name != "publish"]
    assert not any("permissions" in job for job in others)


def test_the_shims_script_has_the_libraries_of_the_build() -> None:
    script = (ROOT / "dpdk/shim/build.sh").read_text(encoding="utf-8")
    build = (ROOT / "dpdk/build.rs").read_text(encoding="utf-8")
    [libraries] = re.findall(r"LIBRARIES: \[&str; \d+\] =\s*\[(.*?)\];", build, re.S)
    assert set(re.findall(r"\s-l(\w+)", script)) == set(re.findall(r'"(\w+)"', libraries))
