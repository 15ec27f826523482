"""The commands that a lab reads: a host's name with a command, and a few of Mininet's."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Final

from narrows.testbed.terminal import plain
from narrows.testbed.tools.lab.network import Hosts
from narrows.testbed.tools.lab.topology import Topology

NAME: Final = "narrows> "
HELP: Final = """\
h1 COMMAND      runs a command at h1; h1 alone opens a shell there
pingall         pings from every host to every other
iperf h1 h2     TCP from h1 to h2 for five seconds (needs iperf)
xterm h1 h2     a terminal window of each host (needs xterm)
nodes, links    what there is
exit            ends the lab"""
SHELL: Final = "bash"
PING: Final = ("ping", "-c", "1", "-W", "1")
IPERF_PORT: Final = "5001"
IPERF_S: Final = 5
PATIENCE_S: Final = 10
"""How long iperf may take to connect, beyond its seconds."""
EXITS: Final = ("exit", "quit", "EOF")


class Prompt:
    """Reads commands until `exit` or the end of the input."""

    def __init__(self, topology: Topology, hosts: Hosts, environment: Mapping[str, str]) -> None:
        self.topology, self.hosts = topology, hosts
        self.environment = dict(environment)
        self.windows: list[subprocess.Popen[bytes]] = []
        """Of `xterm`."""

    def read(self, check: Callable[[], None]) -> None:
        """Reads and executes commands. `check` is called before each; it may raise."""
        is_terminal = sys.stdin.isatty()
        if is_terminal:
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401  # `input` edits lines with it
        while True:
            check()
            try:
                line = input(NAME if is_terminal else "")
            except EOFError:
                return
            except KeyboardInterrupt:
                print()
                continue
            try:
                words = shlex.split(line, comments=True)
            except ValueError as error:
                self.say(f"{error}: {line}")
                continue
            if words and words[0] in EXITS:
                return
            if words:
                if not is_terminal:
                    self.say(f"{NAME}{line}")
                with contextlib.suppress(KeyboardInterrupt):
                    self.execute(words, line.strip())

    def close(self) -> None:
        """Ends the windows that are still open."""
        for window in self.windows:
            window.terminate()
            window.wait()

    def execute(self, words: list[str], line: str) -> None:
        """Executes a command."""
        verbs: dict[str, Callable[[list[str]], None]] = {
            "pingall": self.ping_all, "iperf": self.iperf, "xterm": self.xterm,
            "nodes": self.nodes, "links": self.links, "net": self.links,
            "help": lambda _: self.say(HELP), "?": lambda _: self.say(HELP),
        }  # fmt: skip
        name, *rest = words
        if name in self.hosts.namespaces:
            # The host's own shell reads the line, with its quotes and pipes.
            text = line.removeprefix(name).strip()
            self.run(name, ["sh", "-c", text] if text else [shell()])
        elif name in verbs:
            verbs[name](rest)
        else:
            self.say(f"{name}: no such host or command; help lists them")

    def run(self, host: str, words: list[str]) -> int:
        """Runs a command at a host to its end, with this terminal."""
        sys.stdout.flush()
        command = self.hosts.command(host, words)
        # Commands from a file must not read the lines after their own.
        given = None if sys.stdin.isatty() else subprocess.DEVNULL
        process = subprocess.Popen(command, env=self.environment, stdin=given)
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                # The terminal has told the command too.
                continue

    def output(self, host: str, *words: str, timeout_s: float) -> tuple[int, str]:
        """The exit code and the output of a command at a host."""
        try:
            ran = subprocess.run(
                self.hosts.command(host, words), env=self.environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                timeout=timeout_s,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return 124, "no answer\n"
        return ran.returncode, ran.stdout

    def ping_all(self, _: list[str]) -> None:
        """Pings from every host to every other, as Mininet prints it."""
        if shutil.which("ping") is None:
            self.say("ping: is not installed")
            return
        sent, lost = 0, 0
        for host in self.topology.hosts:
            found = []
            for other in self.topology.hosts:
                if other is host:
                    continue
                words = (*PING, str(other.ip.ip))
                code, _text = self.output(host.name, *words, timeout_s=PATIENCE_S)
                sent, lost = sent + 1, lost + (code != 0)
                found.append(other.name if code == 0 else "X")
            self.say(f"{host.name} -> {' '.join(found)}")
        share = 100 * lost / sent if sent else 0
        self.say(f"*** Results: {share:.0f}% dropped ({sent - lost}/{sent} received)")

    def iperf(self, names: list[str]) -> None:
        """TCP from the first host to the second."""
        known = [host for host in self.topology.hosts if host.name in names]
        if len(names) != 2 or len(known) != 2:
            self.say("iperf: expected two hosts")
            return
        if shutil.which("iperf") is None:
            self.say("iperf: is not installed")
            return
        source, sink = names
        to = next(str(host.ip.ip) for host in known if host.name == sink)
        server = subprocess.Popen(
            self.hosts.command(sink, ["iperf", "-s", "-p", IPERF_PORT]), env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            time.sleep(0.5)
            words = ("iperf", "-p", IPERF_PORT, "-t", str(IPERF_S), "-c", to)
            _, text = self.output(source, *words, timeout_s=IPERF_S + PATIENCE_S)
        finally:
            server.terminate()
            server.wait()
        self.say(text.rstrip())

    def xterm(self, names: list[str]) -> None:
        """A window of each host."""
        if shutil.which("xterm") is None:
            self.say("xterm: is not installed; in another terminal: narrows lab exec HOST")
            return
        for name in names:
            if name not in self.hosts.namespaces:
                self.say(f"{name}: no such host")
                continue
            command = ["xterm", "-T", name, "-e", *self.hosts.command(name, [shell()])]
            self.windows.append(subprocess.Popen(command, env=self.environment))

    def nodes(self, _: list[str]) -> None:
        """The hosts and switches."""
        names = [*self.hosts.namespaces, *(one.name for one in self.topology.switches)]
        self.say(" ".join(names))

    def links(self, _: list[str]) -> None:
        """The links."""
        for host in self.topology.hosts:
            self.say(f"{host.name} <-> {host.at}")
        for link in self.topology.links:
            self.say(" <-> ".join(map(str, link.ends)))

    def say(self, text: str) -> None:
        """Prints."""
        print(plain(text), flush=True)


def shell() -> str:
    """The user's shell."""
    return os.environ.get("SHELL") or SHELL
