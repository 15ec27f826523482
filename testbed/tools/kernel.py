"""`narrows kernel`: runs your program with variants registered in the kernel."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

from narrows.testbed import kernel_variants
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets.linux import variants

DONE, FAILED = 0, 1


def main(names: Sequence[str], program: Sequence[str]) -> int:
    """Runs a program with variants registered; without a program, lists the variants.

    Returns 0 if the program does, else 1. Raises `InputError` for a variant that this kernel cannot
    load, or a program that cannot start.
    """
    if not program:
        show()
        return DONE
    try:
        with variants.registered(names) as kernel_names:
            for name, kernel_name in kernel_names.items():
                print(f"narrows: {name} is {kernel_name} in this kernel", file=sys.stderr)
            return DONE if subprocess.run(program, check=False).returncode == 0 else FAILED
    except variants.VariantError as error:
        raise InputError("kernel", [Problem("variants", str(error))]) from None
    except OSError as error:
        raise InputError("kernel", [Problem("program", str(error), program[0])]) from None


def show() -> None:
    """Lists the kernel's variants and ours."""
    own = kernel_variants.built_in()
    print(f"in this kernel: {', '.join(own)}")
    print(f"in hosts/ebpf, as eBPF: {', '.join(set_apart(own))}")
    for lacking in variants.missing():
        print(f"  not on this machine: {lacking}; narrows doctor shows the remedy")


def set_apart(own: Sequence[str]) -> list[str]:
    """Our variants that the kernel lacks, with the kernel's name of each."""
    names = [name for name in kernel_variants.ours() if name not in own]
    return [f"{name} ({kernel_variants.kernel_name(name)})" for name in names]
