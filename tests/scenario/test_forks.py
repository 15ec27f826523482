"""Functions of many values, in forks."""

from __future__ import annotations

import os
import threading

import pytest

from narrows.testbed.runs import forks


def processes(values: range, most: int) -> list[tuple[int, int]]:
    return forks.map_in_forks(lambda value: (value, os.getpid()), values, most)


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "cores", lambda: 2)


def test_forks_share_many_values_in_their_order() -> None:
    done = processes(range(333), 8)
    assert [value for value, _ in done] == [*range(333)]
    assert done[0][1] == os.getpid()
    assert len({process for _, process in done}) == 2


@pytest.mark.parametrize(("number", "most"), [(2 * forks.SHARE - 1, 8), (333, 1)])
def test_few_values_or_one_process_make_no_fork(number: int, most: int) -> None:
    assert {process for _, process in processes(range(number), most)} == {os.getpid()}


def test_a_process_with_threads_is_not_forked() -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert {process for _, process in processes(range(333), 2)} == {os.getpid()}
    finally:
        end.set()
        thread.join()


@pytest.mark.parametrize("wrong", [0, 332])
def test_an_error_in_a_fork_is_raised_here(wrong: int) -> None:
    def fails(value: int) -> int:
        if value >= wrong:
            raise KeyError(value)
        return value

    with pytest.raises(KeyError, match=str(wrong)):
        forks.map_in_forks(fails, range(333), 2)


def test_the_share_of_a_killed_fork_is_done_here() -> None:
    own = os.getpid()

    def dies(value: int) -> int:
        if os.getpid() != own:
            os._exit(1)
        return value

    assert forks.map_in_forks(dies, range(333), 2) == [*range(333)]
