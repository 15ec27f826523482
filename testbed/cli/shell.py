"""`narrows shell`: runs any program behind the bottleneck."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows.testbed.cli.exit_codes import FAILED
from narrows.testbed.cli.options import request_of
from narrows.testbed.terminal import console, plain

if TYPE_CHECKING:
    from narrows.testbed.runs.scenario import Results
    from narrows.testbed.tools.shell.options import ShellOptions

PORT_OPTIONS = {
    "rate": ("RATE", "of the bottleneck in both directions, e.g. 20Mbps"),
    "queue": ("LIMIT", "of each direction: 100packets, 150kB, 20ms or 1bdp (100packets)"),
    "discipline": ("NAME", 'as in a scenario: codel, or { name = "codel", target = "5ms" }'),
    "loss": ("SHARE", "of packets dropped at random in each direction, e.g. 1%% (none)"),
    "ecn_threshold": ("LIMIT", "packets in the queue above which ECN marks begin (none)"),
}


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser(
        "shell", help="run any program behind the bottleneck",
        usage="narrows shell [options] -- COMMAND ...",
        description="Runs a program in a network namespace whose only link is the P4 bottleneck. "
        "The far side is this machine, unless --server or --interface says otherwise; the "
        "program finds it as `server`. The exit code is the program's.",
    )  # fmt: skip
    add = command.add_argument
    add("program", nargs=argparse.REMAINDER, metavar="COMMAND", help="the program, after --")
    for key, (metavar, text) in PORT_OPTIONS.items():
        add(f"--{key.replace('_', '-')}", metavar=metavar, help=text)
    add("--delay", default="0s", metavar="TIME", help="one way, e.g. 10ms (none)")
    add("--counts", choices=("frame", "ip", "wire"), default="frame",
        help="which bytes count against rate and queue (frame)")  # fmt: skip
    for direction, whither in (("up", "from the program"), ("down", "towards the program")):
        for key, (metavar, _) in PORT_OPTIONS.items():
            name = key.replace("_", "-")
            add(f"--{direction}-{name}", metavar=metavar, help=f"--{name} {whither} only")
    add("--server", metavar="COMMAND", help="the far side is this command, e.g. 'iperf3 -s'")
    add("--interface", metavar="NAME",
        help="the far side is this interface's network; with --address")  # fmt: skip
    add("--address", metavar="IP/BITS", help="the program's address on that network")
    add("--gateway", metavar="IP", help="that network's router, for other networks (none)")
    add("--user", metavar="NAME",
        help="whom the program and then the shell itself run as (who called sudo)")  # fmt: skip
    add("--set", action="append", default=[], metavar="KEY=VALUE", dest="overrides",
        help="sets a key of the scenario, e.g. instrument.poll_gap=20ms")  # fmt: skip
    add("--seed", type=int, default=1, help="of random losses and drops (1)")
    add("--out", type=Path, default=Path("results"), help="where results go (results)")
    add("--name", default="shell", metavar="NAME", help="of the results' directory (shell)")
    add("--live", type=int, nargs="?", const=0, metavar="PORT",
        help="a page for a browser on this machine, with the queues and sliders, at this TCP port "
        "(any free one)")  # fmt: skip
    add("--no-figures", action="store_false", dest="figures", help="draw none")
    add("--quiet", action="store_true", help="print errors only")
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows shell`. Raises `InputError`."""
    environment = dict(os.environ)
    # Before its import: gRPC would log to the program's terminal.
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    from narrows.testbed.tools.shell.options import PER_DIRECTION, ShellOptions
    from narrows.testbed.tools.shell.run import ShellError
    from narrows.testbed.tools.shell.run import run as run_shell

    own = {
        direction: {
            key: value
            for key in PER_DIRECTION
            if (value := getattr(options, f"{direction}_{key}")) is not None
        }
        for direction in ("up", "down")
    }
    program = options.program[1:] if options.program[:1] == ["--"] else options.program
    request = request_of(ShellOptions, options, program=program, **own)
    try:
        ended = run_shell(request, environment)
    except ShellError as error:
        print(f"narrows shell: {plain(str(error))}", file=sys.stderr)
        return FAILED
    if ended.note:
        print(f"narrows shell: note: {plain(ended.note)}", file=sys.stderr)
    show(ended.results, request)
    return ended.code


def show(results: Results, request: ShellOptions) -> None:
    """Prints the run's verdict and its table on standard error, which the program's output does
    not share, and draws its figures.
    """
    from narrows.testbed.cli.results_table import results_table

    for outcome in results.outcomes:
        if outcome.message:
            print(plain(f"narrows shell: {outcome.message}"), file=sys.stderr)
    if not request.quiet:
        screen = console(stderr=True)
        screen.print(results_table(results.title, results.outcomes, screen))
        print(f"results: {results.outcomes[0].job.final}", file=sys.stderr)
    if request.figures and results.good:
        # Here, for matplotlib wants a directory that it can write to.
        from narrows.analysis.figures import draw

        draw(results.directory, results.figures)
