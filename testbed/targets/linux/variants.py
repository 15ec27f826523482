"""Congestion control for kernel sockets: the kernel's variants, and ours in eBPF.

A variant of `hosts/ebpf/` is compiled for the running kernel, with types from
/sys/kernel/btf/vmlinux. It is registered while in use, and then removed. Each user holds a shared
lock on `/run/narrows/<kernel's name>.lock` until it ends or crashes. The next user of any variant
removes unlocked ones (`sweep`). Sockets that still use a removed variant keep it until they close.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import platform
import shutil
import socket
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from narrows.testbed import needs
from narrows.testbed.kernel_variants import PREFIX, SOURCES, available, built_in, kernel_name, ours
from narrows.testbed.paths import ROOT
from narrows.testbed.targets.linux.namespaces import LOCKS

BTF = Path("/sys/kernel/btf/vmlinux")
BPF_HELPERS = Path("/usr/include/bpf/bpf_helpers.h")

BPF_SYSCALL = {"x86_64": 321, "aarch64": 280}
"""The system call's number, from asm/unistd.h."""
BPF_MAP_UPDATE_ELEM, BPF_MAP_GET_FD_BY_ID = 2, 14
"""From linux/bpf.h."""
RATE_MAP = "nw_app_tcp_rate"


class VariantError(Exception):
    """A variant is not available on this kernel."""


def missing() -> list[str]:
    """What this machine lacks for the variants in eBPF; empty if nothing."""
    lacking = [
        f"{tool} is not installed" for tool in ("clang", "bpftool") if not shutil.which(tool)
    ]
    if not BTF.exists():
        lacking.append(f"{BTF} does not exist (needs a kernel with CONFIG_DEBUG_INFO_BTF)")
    if not BPF_HELPERS.exists():
        lacking.append(f"{BPF_HELPERS} does not exist (needs libbpf's headers)")
    if os.geteuid() != 0:
        lacking.append("not root (eBPF needs CAP_BPF and CAP_NET_ADMIN)")
    return lacking


@contextmanager
def registered(variants: Iterable[str]) -> Iterator[dict[str, str]]:
    """Registers variants in the kernel; yields the kernel's name of each, for TCP_CONGESTION.

    A kernel variant of the same name takes precedence; its module is loaded if necessary. Raises
    `VariantError`.
    """
    with ExitStack() as stack:
        yield {name: stack.enter_context(_registered(name)) for name in dict.fromkeys(variants)}


def refused(variant: str) -> str | None:
    """The reason why a socket cannot use a variant here; None if it can."""
    if variant not in built_in() and shutil.which("modprobe"):
        subprocess.run(["modprobe", "-q", f"tcp_{variant}"], capture_output=True, check=False)
    if variant in built_in():
        return None
    if variant not in ours():
        return (
            f"is neither in this kernel ({', '.join(built_in())}) "
            f"nor in hosts/ebpf/ ({', '.join(ours())})"
        )
    if lacking := needs.lacking("variants in eBPF"):
        return f"needs {'; '.join(lacking)}"
    return None


@contextmanager
def _registered(variant: str) -> Iterator[str]:
    if why := refused(variant):
        raise VariantError(f'variant "{variant}" {why}')
    if variant in built_in():
        yield variant
        return
    name = kernel_name(variant)
    with _changing():
        sweep()
        held = os.open(lock_of(name), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(held, fcntl.LOCK_SH)
        try:
            if name not in registered_names():
                bpftool("struct_ops", "register", str(build(variant)))
        except BaseException:
            os.close(held)
            raise
    try:
        yield name
    finally:
        with _changing():
            os.close(held)
            sweep()


@contextmanager
def _changing() -> Iterator[None]:
    """Lets one process at a time register and remove."""
    LOCKS.mkdir(exist_ok=True)
    lock = os.open(LOCKS / "variants.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def sweep() -> None:
    """Removes the variants without users."""
    for name in registered_names():
        file = os.open(lock_of(name), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                unregister(name)
        finally:
            os.close(file)


def lock_of(name: str) -> Path:
    """The file that users of a registered variant lock."""
    return LOCKS / f"{name}.lock"


def registered_names() -> list[str]:
    """Our registered variants."""
    return [name for name in available() if name.startswith(PREFIX)]


def unregister(name: str) -> None:
    """Removes a variant. Raises `VariantError`."""
    complaints = []
    # Removed variants of the same name may remain while sockets use them.
    for found in json.loads(bpftool("--json", "struct_ops", "list")):
        if found["name"] == name:
            try:
                bpftool("struct_ops", "unregister", "id", str(found["id"]))
            except VariantError as error:
                complaints.append(str(error))
    if name in registered_names():
        raise VariantError("\n".join(complaints))


def build(variant: str) -> Path:
    """Compiles a variant for the running kernel if necessary. Raises `VariantError`."""
    directory = ROOT / "target/kernel" / platform.release()
    directory.mkdir(parents=True, exist_ok=True)
    types = directory / "vmlinux.h"
    if not types.exists():
        text = bpftool("btf", "dump", "file", str(BTF), "format", "c")
        partial = types.with_suffix(f".{os.getpid()}")
        partial.write_text(text)
        partial.rename(types)
    source = SOURCES / f"{variant.replace('-', '_')}.bpf.c"
    made = directory / f"{source.name.removesuffix('.c')}.o"
    newest = max(path.stat().st_mtime for path in [source, *SOURCES.glob("*.h"), types])
    if not made.exists() or made.stat().st_mtime < newest:
        include = [f"-I{directory}", f"-I{SOURCES}"]
        target = ["-target", "bpf", "-mcpu=v3"]
        run("clang", "-O2", "-g", "-Wall", "-Werror", *target, *include,
            "-c", str(source), "-o", str(made))  # fmt: skip
    return made


def set_required_rate(sock: socket.socket, bytes_per_second: int) -> None:
    """Sets the required payload rate of a socket with AppTCP. Raises `OSError`."""
    maps = json.loads(bpftool("--json", "map", "list"))
    # The kernel truncates map names to 15 characters.
    ids = [found["id"] for found in maps if found.get("name") == RATE_MAP[:15]]
    if not ids:
        raise VariantError("app-tcp is not registered")
    for identity in ids:
        file = bpf(BPF_MAP_GET_FD_BY_ID, identity.to_bytes(4, "little").ljust(12, b"\0"))
        try:
            key = ctypes.create_string_buffer(sock.fileno().to_bytes(4, "little"), 4)
            value = ctypes.create_string_buffer(bytes_per_second.to_bytes(8, "little"), 8)
            words = (file, ctypes.addressof(key), ctypes.addressof(value), 0)
            bpf(BPF_MAP_UPDATE_ELEM, b"".join(word.to_bytes(8, "little") for word in words))
        finally:
            os.close(file)


def bpf(command: int, attributes: bytes) -> int:
    """The bpf system call. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    number = BPF_SYSCALL[platform.machine()]
    result: int = libc.syscall(number, command, buffer, len(attributes))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "bpf")
    return result


def bpftool(*arguments: str) -> str:
    """Runs bpftool and returns its output. Raises `VariantError`."""
    return run("bpftool", *arguments)


def run(*command: str) -> str:
    """Runs a command and returns its output. Raises `VariantError` with its error output."""
    ran = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    if ran.returncode != 0:
        complaint = (ran.stderr.strip() or ran.stdout.strip()).splitlines()
        raise VariantError(f"{' '.join(command)}:\n" + "\n".join(complaint[-20:]))
    return ran.stdout
