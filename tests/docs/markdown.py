"""Steps of a Markdown page: its commands, with the output that it shows, and its files.

- A line "`path`:" before a fenced block makes the block a file.
- A `sh` block has a command per line; a backslash continues a line.
- A `console` block has commands after `$ ` (a `> ` continues one), each with its output. A line
  `...` stands for any lines, `...` within a line for any text. Blanks are compared as one blank.
- An HTML comment before a block tells how it is tested: `<!-- needs: root, libdpdk -->`,
  `<!-- exits: 2 -->`, `<!-- real time -->` (the run may be void),
  `<!-- background: text -->` (goes on once it has printed the text, to the page's end or to a block
  with `<!-- after Ctrl-C -->`).
  `<!-- run by: file -->` names the test or workflow that runs the block in the guide's place.
- A page begins with `<!-- after: page.md -->` where it goes on from another page's files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(
    r"(?:^<!-- (?P<notes>[^\n]*?) -->\n+)?(?:^`(?P<path>[\w./-]+)`:\n\n)?"
    r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.M | re.S,
)
AFTER = re.compile(r"^<!-- after: (.*) -->$", re.M)


@dataclass(frozen=True)
class Step:
    """A command or a file of a page."""

    page: str
    line: int
    text: str
    """The command, or the content of the file."""
    path: str = ""
    """The path of the file; empty for a command."""
    shown: str | None = None
    """The output that the page shows; None if it shows none."""
    notes: tuple[str, ...] = ()
    """The notes in the comment before the block."""

    @property
    def where(self) -> str:
        """Page and line."""
        return f"{self.page}:{self.line}"

    def note(self, name: str) -> str | None:
        """The value of a note; empty if it has no value, None if it is absent."""
        for note in self.notes:
            key, _, value = note.partition(":")
            if key.strip() == name:
                return value.strip()
        return None


def pages_before(path: Path) -> list[str]:
    """The pages whose files a page needs."""
    found = AFTER.search(path.read_text(encoding="utf-8"))
    return found[1].split(", ") if found else []


def steps_of(path: Path) -> Iterator[Step]:
    """The steps of a page in order."""
    text = path.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        notes = tuple(block["notes"].split("; ")) if block["notes"] else ()
        line = text.count("\n", 0, block.start("text")) + 1
        if block["path"]:
            yield Step(path.name, line, block["text"], block["path"], notes=notes)
        elif block["kind"] == "sh":
            for number, command in commands(block["text"]):
                yield Step(path.name, line + number, command, notes=notes)
        elif block["kind"] == "console":
            for number, command, shown in transcript(block["text"]):
                yield Step(path.name, line + number, command, shown=shown, notes=notes)


def commands(text: str) -> Iterator[tuple[int, str]]:
    """The commands of a `sh` block: first line, and text without its comment."""
    begun: list[str] = []
    for number, line in enumerate(text.splitlines()):
        begun.append(re.split(r"(?:^|\s\s)#", line)[0].rstrip())
        if begun[-1].endswith("\\"):
            continue
        command = "\n".join(begun)
        if command.strip():
            yield number - len(begun) + 1, command
        begun = []


def transcript(text: str) -> Iterator[tuple[int, str, str]]:
    """The commands of a `console` block: first line, text, and the output shown."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        of = lines[start:end]
        more = 1
        while more < len(of) and of[more].startswith("> "):
            more += 1
        yield start, "\n".join(line[2:] for line in of[:more]), "\n".join(of[more:])


def matches(shown: str, printed: str) -> bool:
    """Whether the output matches the page."""
    pattern = ""
    for line in shown.strip().splitlines():
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            parts = [re.escape(" ".join(part.split())) for part in line.split("...")]
            glued = r"[^\n]*?".join(parts)
            pattern += glued + r" ?\n"
    lines = [" ".join(line.split()) for line in printed.strip().splitlines()]
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is not None
