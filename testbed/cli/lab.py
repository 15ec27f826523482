"""`narrows lab`: P4 switches and hosts from the P4 tutorials' topology files."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from narrows.testbed.cli.exit_codes import DONE, FAILED
from narrows.testbed.cli.options import add_port_options, port_options, request_of
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.terminal import console, plain

if TYPE_CHECKING:
    from narrows.testbed.tools.lab.run import Up

EXEC, DOWN = "exec", "down"
GRPC_PORT: Final = 50_051
"""The tutorials' own; the second switch has the next."""


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser(
        "lab", help="run P4 switches and hosts from a P4 tutorial's topology.json",
        usage="narrows lab [options] TOPOLOGY.json\n       narrows lab exec HOST [COMMAND ...]\n"
        "       narrows lab down",
        description="Builds the network of a topology.json with hosts in network namespaces, and "
        "configures its switches by their runtime files. Then it reads commands: `h1 ping h2`, "
        "`help`. `narrows lab exec` runs a command at a host from another terminal, `narrows lab "
        "down` ends the lab.",
    )  # fmt: skip
    add = command.add_argument
    add("what", nargs="?", metavar="TOPOLOGY.json",
        help="the topology; or exec with a host and a command; or down")  # fmt: skip
    add("words", nargs="*", metavar="WORD", help="after exec: the host and the command")
    add("-t", "--topo", metavar="TOPOLOGY.json", help="the topology, as the tutorials name it")
    add("-j", "--switch_json", "--program", type=Path, metavar="FILE", dest="program",
        help="the program of switches that name none (JSON of p4c-bm2-ss)")  # fmt: skip
    add("-b", "--behavioral-exe", metavar="NAME", dest="bmv2",
        help="the tutorials' bmv2; not used")  # fmt: skip
    add("--queue", default="64packets", metavar="LIMIT",
        help="of every port, e.g. 150kB or 20ms (64packets, as in bmv2)")  # fmt: skip
    add("--counts", choices=("frame", "ip", "wire"), default="frame",
        help="which bytes count against rate and queue (frame)")  # fmt: skip
    add("--no-capture", action="store_false", dest="capture", help="write no pcap files")
    add("--no-prompt", action="store_false", dest="prompt",
        help="read no commands; end by `narrows lab down`")  # fmt: skip
    add("--detach", action="store_true",
        help="return once the lab is up; it goes on without a prompt")  # fmt: skip
    add("--grpc-port", type=int, default=GRPC_PORT, metavar="PORT",
        help=f"TCP port of the first switch's controllers; 0: any ({GRPC_PORT})")  # fmt: skip
    add("--seed", type=int, default=1, help="of the programs' random numbers (1)")
    add("--out", type=Path, default=Path("results"), help="where results go (results)")
    add("--name", default="lab", metavar="NAME", help="of the results' directory (lab)")
    add_port_options(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows lab`. Raises `InputError`."""
    # Before its import: gRPC would log to the terminal.
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    from narrows.testbed.tools.lab.run import LabError

    try:
        if options.what == EXEC:
            return execute(options.words)
        if options.what == DOWN:
            return down(options.words)
        given = [name for name in (options.what, options.topo) if name is not None]
        if len(given) != 1 or options.words:
            what = "expected one topology.json; or exec HOST COMMAND, or down"
            raise InputError("narrows lab", [Problem("", what)])
        return detached(options) if options.detach else begin(options, Path(given[0]))
    except LabError as error:
        print(f"narrows lab: {plain(str(error))}", file=sys.stderr)
        return FAILED


def execute(words: list[str]) -> int:
    """`narrows lab exec HOST [COMMAND ...]`: becomes the command. Raises `InputError`."""
    from narrows.testbed.tools.lab.prompt import shell
    from narrows.testbed.tools.lab.run import command_at, only_lab

    if not words:
        raise InputError("narrows lab exec", [Problem("", "expected a host")])
    command = command_at(only_lab(), words[0], words[1:] or [shell()])
    sys.stdout.flush()
    os.environ.pop("GRPC_VERBOSITY", None)
    os.execvp(command[0], command)


def down(words: list[str]) -> int:
    """`narrows lab down`. Raises `InputError`."""
    from narrows.testbed.tools.lab.run import end, only_lab

    if words:
        raise InputError("narrows lab down", [Problem(words[0], "expected nothing after down")])
    lab = only_lab()
    end(lab)
    print(plain(f"results: {lab.out}"))
    return DONE


def begin(options: argparse.Namespace, topology: Path) -> int:
    """Runs a lab to its end."""
    from narrows.testbed.tools.lab.options import LabOptions
    from narrows.testbed.tools.lab.run import run as run_lab

    environment = dict(os.environ)
    environment.pop("GRPC_VERBOSITY", None)
    request = request_of(LabOptions, options, topology=topology, ports=port_options(options))
    summary = run_lab(request, environment, show_up)
    show_end(summary, request.directory)
    return DONE


def detached(options: argparse.Namespace) -> int:
    """Starts the lab in another process; returns when it is up or has failed."""
    words = [word for word in sys.argv[2:] if word != "--detach"]
    command = [sys.executable, "-m", "narrows", "lab", "--no-prompt", *words]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout
    for line in process.stdout:
        print(line, end="", flush=True)
        if line.startswith(READY):
            return DONE
    return process.wait()


READY: Final = "lab is up"
"""The last line that a lab prints before it serves."""


def show_up(up: Up) -> None:
    """Prints what there is."""
    for host in up.topology.hosts:
        print(plain(f"{host.name}: {host.ip.ip}, {host.mac}, at {host.at}"))
    for name, address in up.switches.addresses.items():
        print(plain(f"{name}: controllers at {address}"))
    for note in up.notes:
        print(plain(f"note: {note}"))
    print(f"{READY}: `help` lists commands; in other terminals: narrows lab exec HOST", flush=True)


def show_end(summary: dict[str, Any], directory: Path) -> None:
    """Prints the ports' figures, and the verdict. A detached lab has no reader any more."""
    from rich.table import Table

    try:
        table = Table(box=None, pad_edge=False)
        for title in ("port", "rate", "sent", "dropped", "queue mean", "max", "delay p95"):
            table.add_column(title, justify="left" if title == "port" else "right")
        for port in summary["ports"]:
            delay, rate = port["queue_delay_ms"], port["rate_bps"]
            table.add_row(
                f"{port['switch']}-p{port['port']}",
                "" if rate is None else f"{rate / 1e6:g} Mb/s",
                str(port["dequeued"]),
                str(port["dropped"]),
                f"{port['queue_packets_mean']:.2f}",
                str(port["queue_packets_max"]),
                "" if delay is None else f"{delay['p95']:.3f} ms",
            )
        console().print(table)
        if not summary["valid"]:
            print(plain(f"invalid: {summary['invalid_reason']}"))
        print(plain(f"results: {directory}"), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
