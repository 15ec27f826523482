"""`narrows completion`: shell completion for `narrows`, from the parsers."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from typing import Any

from narrows.testbed.cli.exit_codes import DONE

SHELLS = ("bash", "zsh", "fish")


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser(
        "completion", help="print the completion script of a shell",
        description='Bash: eval "$(narrows completion bash)" in ~/.bashrc. Zsh: the same in '
        "~/.zshrc, after compinit. Fish: narrows completion fish | source.",
    )  # fmt: skip
    command.add_argument("shell", choices=SHELLS, help="the shell")
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows completion`."""
    from narrows.testbed.cli.main import parser

    write = {"bash": bash, "zsh": zsh, "fish": fish}[options.shell]
    print(write(parser()))
    return DONE


def verbs(top: argparse.ArgumentParser) -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    """Name, help and parser of each verb."""
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            texts = {each.dest: each.help or "" for each in action._choices_actions}
            for name, inner in action.choices.items():
                yield name, texts.get(name, ""), inner


def actions(parser: argparse.ArgumentParser) -> Iterator[tuple[argparse.Action, list[str], str]]:
    """A verb's options and arguments, each with its help, and with its values if they are few."""
    for action in parser._actions:
        values = [str(value) for value in action.choices] if action.choices else []
        yield action, values, (action.help or "").replace("%%", "%")


def bash(top: argparse.ArgumentParser) -> str:
    """A function for `complete -F`."""
    names = " ".join(name for name, _, _ in verbs(top))
    options, values = [], []
    for name, _, inner in verbs(top):
        words = [flag for each, _, _ in actions(inner) for flag in each.option_strings]
        words += [value for each, found, _ in actions(inner) for value in found
                  if not each.option_strings]  # fmt: skip
        options.append(f"    {name}) words={shlex.quote(' '.join(words))} ;;")
        values += [
            f"    '{name} {flag}') words={shlex.quote(' '.join(found))} ;;"
            for each, found, _ in actions(inner)
            for flag in (each.option_strings if found else ())
        ]
    return "\n".join(
        [
            "_narrows() {",
            '  local cur="${COMP_WORDS[COMP_CWORD]}" words=""',
            '  case "${COMP_WORDS[1]}" in',
            *options,
            "  esac",
            '  case "${COMP_WORDS[1]} ${COMP_WORDS[COMP_CWORD-1]}" in',
            *values,
            "  esac",
            f'  [ "$COMP_CWORD" -eq 1 ] && words="{names} --help --version"',
            '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
            "}",
            "complete -o default -F _narrows narrows",
        ]
    )


def zsh(top: argparse.ArgumentParser) -> str:
    """A function for `compdef`."""
    cases = []
    for name, _, inner in verbs(top):
        specs = []
        for each, found, text in actions(inner):
            values = f"({' '.join(found)})" if found else "_files"
            if not each.option_strings:
                specs.append(shlex.quote(f"*:{zsh_text(each.dest)}:{values}"))
            for flag in each.option_strings:
                value = "" if each.nargs == 0 else f":{zsh_text(each.dest)}:{values}"
                repeated = "*" if isinstance(each, argparse._AppendAction) else ""
                specs.append(shlex.quote(f"{repeated}{flag}[{zsh_text(text)}]{value}"))
        cases.append(f"    {name}) _arguments {' '.join(specs)} ;;")
    described = " ".join(shlex.quote(f"{name}:{zsh_text(text)}") for name, text, _ in verbs(top))
    return "\n".join(
        [
            "#compdef narrows",
            "_narrows() {",
            f"  local -a verbs=({described})",
            "  if (( CURRENT == 2 )); then _describe verb verbs; return; fi",
            '  local verb="$words[2]"',
            "  shift words; (( CURRENT-- ))",
            '  case "$verb" in',
            *cases,
            "  esac",
            "}",
            "compdef _narrows narrows",
        ]
    )


def zsh_text(text: str) -> str:
    """A help text without the characters that `_arguments` would interpret."""
    return re.sub(r"[\[\]:\\]", " ", text)


def fish(top: argparse.ArgumentParser) -> str:
    """A `complete` line for each verb and option."""
    lines = []
    for name, text, inner in verbs(top):
        lines.append(f"complete -c narrows -n __fish_use_subcommand -a {name} -d {quoted(text)}")
        of_verb = f"complete -c narrows -n '__fish_seen_subcommand_from {name}'"
        for each, found, about in actions(inner):
            values = f" -xa {quoted(' '.join(found))}" if found else ""
            if each.nargs != 0 and not values and each.option_strings:
                values = " -r"
            for flag in each.option_strings or ([""] if found else []):
                long = flag.removeprefix("--")
                how = "" if not flag else f" -l {long}" if flag[:2] == "--" else f" -s {flag[1:]}"
                lines.append(f"{of_verb}{how}{values} -d {quoted(about)}")
    return "\n".join(lines)


def quoted(text: str) -> str:
    """Text in fish's single quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
