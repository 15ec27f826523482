"""Functions of many values, in forks. Each test has its own process: pytest may have threads."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from narrows.testbed.runs import forks

BEGIN = """
import json, os, threading
from narrows.testbed.runs import forks

forks.cores = lambda: 2
own = os.getpid()


def is_here(value):
    return os.getpid() == own


def killed_elsewhere(value):
    return value if is_here(value) else os._exit(1)


def wrong_from(first):
    def function(value):
        if value >= first:
            raise KeyError(value)
        return value

    return function
"""


def mapped(function: str, number: int = 333, most: int = 8, begin: str = "") -> Any:
    """What `function` of so many numbers gives; an error's text."""
    end = f"""
{begin}
try:
    found = forks.map_in_forks({function}, range({number}), {most})
except KeyError as error:
    found = repr(error)
print(json.dumps(found), flush=True)
os._exit(0)
"""
    command = [sys.executable, "-c", BEGIN + end]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def test_forks_share_many_values_in_their_order() -> None:
    assert mapped("lambda value: value") == [*range(333)]
    where = mapped("is_here")
    assert where == sorted(where, reverse=True)
    assert set(where) == {True, False}


@pytest.mark.parametrize(("number", "most"), [(2 * forks.SHARE - 1, 8), (333, 1)])
def test_few_values_or_one_process_make_no_fork(number: int, most: int) -> None:
    assert mapped("is_here", number, most) == number * [True]


def test_a_process_with_threads_is_not_forked() -> None:
    thread = "threading.Thread(target=threading.Event().wait).start()"
    assert mapped("is_here", begin=thread) == 333 * [True]


@pytest.mark.parametrize("wrong", [0, 332])
def test_an_error_in_a_fork_is_raised_here(wrong: int) -> None:
    assert mapped(f"wrong_from({wrong})") == f"KeyError({wrong})"


def test_the_share_of_a_killed_fork_is_done_here() -> None:
    assert mapped("killed_elsewhere") == [*range(333)]
