"""`narrows kernel` and docs/guide/linux.md: variants are in the kernel while a program runs."""

from __future__ import annotations

import re
import sys

import pytest

from narrows.testbed import kernel_variants
from narrows.testbed.cli import main as cli
from narrows.testbed.targets.linux import variants
from tests.support.needs import without
from tests.support.world import ROOT

MANUAL = (ROOT / "docs/guide/linux.md").read_text()
SHOW = "import pathlib; print(pathlib.Path('/proc/sys/net/ipv4/tcp_available_congestion_control')"
SHOW += ".read_text())"

needs_ebpf = without(variants.missing())


@needs_ebpf
def test_a_program_runs_with_its_variants(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["kernel", "vegas,reno", sys.executable, "-c", SHOW]) == 0
    printed = capfd.readouterr()
    assert "nw_vegas" in printed.out.split()
    assert "narrows: vegas is nw_vegas in this kernel" in printed.err
    assert "narrows: reno is reno in this kernel" in printed.err
    assert "nw_vegas" not in variants.registered_names()


@needs_ebpf
def test_a_program_that_fails_fails_and_leaves_nothing() -> None:
    assert cli.main(["kernel", "veno", sys.executable, "-c", "raise SystemExit(7)"]) == 1
    assert "nw_veno" not in variants.registered_names()


@needs_ebpf
def test_the_manual_s_own_variant_works(
    capfd: pytest.CaptureFixture[str],
) -> None:
    (text,) = re.findall(r"^```c\n(.*?)^```", MANUAL, re.M | re.S)
    source = kernel_variants.SOURCES / "mine.bpf.c"
    assert not source.exists()
    source.write_text(text)
    try:
        assert "mine" in kernel_variants.ours()
        assert cli.main(["kernel", "mine", sys.executable, "-c", SHOW]) == 0
        assert "nw_mine" in capfd.readouterr().out.split()
        source.write_text(text.replace("share(", "shares("))
        assert cli.main(["kernel", "mine", "true"]) == 2
        assert "shares" in capfd.readouterr().err
    finally:
        source.unlink()


def test_what_there_is_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["kernel"]) == 0
    printed = capsys.readouterr().out
    assert "in this kernel: " in printed
    assert not [name for name in kernel_variants.ours() if name not in printed]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["vega", "true"], 'variant "vega" is neither in this kernel'),
        (["reno", "no-such-program"], 'program = "no-such-program"'),
    ],
)
def test_what_can_not_be_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    assert cli.main(["kernel", *arguments]) == 2
    assert complaint in capsys.readouterr().err


def test_the_manual_counts_right() -> None:
    assert len(kernel_variants.ours()) == 14
    assert all(len(kernel_variants.kernel_name(name)) <= 15 for name in kernel_variants.ours())
