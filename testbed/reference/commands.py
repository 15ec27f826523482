"""The pages of commands and targets, from the parsers and the targets' own records."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from narrows.controller import __main__ as controller
from narrows.testbed.cli import main as cli
from narrows.testbed.reference.markdown import code, codes, page, sentence, table
from narrows.testbed.targets import HOSTS, TARGETS

Parser = argparse.ArgumentParser
NARROWS_CODES = (
    ("0", "Done."),
    ("1", "A run failed or is invalid, a check failed, or a program is missing."),
    ("2", "The input is wrong: the command line, a scenario, or another file."),
    ("130", "Stopped by Ctrl-C or SIGTERM; finished runs are intact."),
)
CONTROLLER_CODES = (
    ("0", "Done."),
    ("1", "The switch refused, or cannot be reached."),
    ("2", "The input is wrong."),
)


def commands() -> str:
    """Every verb of both commands, with its options, and the exit codes."""
    verbs = [part for each in subcommands(cli.parser()) for part in command("##", "narrows", *each)]
    top = controller.parser()
    module = "python -m narrows.controller"
    parts = [part for each in subcommands(top) for part in command("###", module, *each)]
    return page(
        "Commands",
        "`narrows --help` and `narrows VERB --help` print the same.",
        *verbs,
        "## Exit codes",
        table(["code", "meaning"], NARROWS_CODES),
        "## The controller's command",
        f"`{module} --address HOST:PORT COMMAND` reads and sets a running switch."
        " [Control a switch](../guide/controller.md) has examples.",
        options(top),
        *parts,
        "### Exit codes of the controller",
        table(["code", "meaning"], CONTROLLER_CODES),
    )


def subcommands(parser: Parser) -> Iterator[tuple[str, str, Parser]]:
    """Name, help and parser of every sub-command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            texts = {each.dest: each.help or "" for each in action._choices_actions}
            for name, inner in action.choices.items():
                yield name, texts.get(name, ""), inner


def command(level: str, program: str, name: str, about: str, parser: Parser) -> Iterator[str]:
    """A sub-command's section, under a heading of this level."""
    arguments = [each for each in parser._actions if not each.option_strings]
    shown = " ".join([program, name, "[options]", *map(argument, arguments)])
    yield f"{level} {program} {name}"
    yield f"{sentence(about)}\n\n```text\n{shown}\n```"
    yield options(parser)


def options(parser: Parser) -> str:
    """The table of a parser's arguments and options."""
    rows = [
        [code(flags(each)), sentence((each.help or "") % {"default": each.default})]
        for each in parser._actions
        if not isinstance(each, argparse._HelpAction | argparse._SubParsersAction)
    ]
    return table(["option", "meaning"], rows)


def argument(action: argparse.Action) -> str:
    """A positional argument as the usage has it."""
    name = placeholder(action)
    return {"+": f"{name} ...", "*": f"[{name} ...]", "?": f"[{name}]"}.get(str(action.nargs), name)


def flags(action: argparse.Action) -> str:
    """An option with its value, or an argument."""
    if not action.option_strings:
        return argument(action)
    value = "" if action.nargs == 0 else f" {placeholder(action)}"
    return ", ".join(action.option_strings) + value


def placeholder(action: argparse.Action) -> str:
    """What stands for an argument's value."""
    if isinstance(action.metavar, str):
        return action.metavar
    if action.choices is not None and len(list(action.choices)) <= 6:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper()


def targets() -> str:
    """Every target and every kind of hosts."""
    parts = []
    for each in TARGETS.values():
        time = "in real time" if each.in_real_time else "in virtual time"
        disciplines = codes(each.disciplines) if each.disciplines else "all"
        parts.append(f"## {each.name}\n\n{sentence(each.title)} It runs {time}.")
        parts.append(
            f"- Tables: {codes(each.records)}.\n- Queue disciplines: {disciplines}."
            f"\n- Kernel's TCP: {'no' if each.no_kernel_hosts else 'yes'}."
        )
        rows = [
            [code(f"{one.flag} {one.metavar or ''}".strip()), sentence(one.help)]
            for one in each.options
        ]
        parts.append(table(["option", "meaning"], rows))
    hosts = [[code(each.name), sentence(each.title)] for each in HOSTS.values()]
    return page(
        "Targets and hosts",
        "`narrows run --target NAME` says what a scenario runs on, `--hosts NAME` whose TCP is at"
        " its ends. `narrows doctor` says which of them this machine can have.",
        *parts,
        "## Hosts",
        table(["hosts", "whose TCP"], hosts),
    )
