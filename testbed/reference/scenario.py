"""The page of a scenario's keys, and their JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from narrows.schema import units
from narrows.testbed.reference.markdown import code, page, sentence, table
from narrows.testbed.scenario.keys.json_schema import scenario_schema
from narrows.testbed.scenario.keys.key import Key, keys
from narrows.testbed.scenario.values import QUANTITIES

ARRAYS = ("switch", "link", "host", "flow", "event")
"""Tables that a file may have several of."""
COLUMNS = ("key", "type", "unit", "default", "example", "meaning")


def schema() -> str:
    """The JSON Schema, as a file."""
    return json.dumps(scenario_schema(), indent=1, ensure_ascii=False) + "\n"


def scenario() -> str:
    """Every key, a table of them for each table of the file."""
    every = keys()
    by_table: dict[str, list[Key]] = {"": []}
    for key in every:
        by_table.setdefault(parent(key.path), []).append(key)
    tables = {key.path: key for key in every}
    shown: dict[str, str] = {}
    parts = [INTRODUCTION, quantities()]
    for path, found in by_table.items():
        own = tables.get(path)
        definition = own.table if own else ""
        parts += section(path, own, found, shown.get(definition, ""))
        if definition:
            shown.setdefault(definition, path)
    return page("Scenario keys", *parts, CHOICE)


INTRODUCTION = """\
A scenario is a TOML file. Each section below is one of its tables. `narrows list keys` prints the
same, and `narrows list keys flow.app` the keys of one table.

- **Path.** The path of a key, such as `bottleneck.rate` or `flow.count`, is what `--set`, a sweep
  and messages call it. `flow.count` means all `[[flow]]` tables, `flow.0.count` the first one.
- **Required.** A run needs the key. It can come from the file, from a sweep, or from `--set`.
- **Unknown keys** are refused. The message names the nearest key that exists.

Editors complete and check scenarios with [scenario.schema.json](scenario.schema.json). With taplo
or VS Code's "Even Better TOML", put this line at the head of the file:

```toml
#:schema ../docs/reference/scenario.schema.json
```"""

CHOICE = """\
## `[sweep]` keys and `[choice]`

Every other key of `[sweep]` is the path of a scenario's key, and its value a list. Every
combination of values is a point, and each point is run `repeat` times:

```toml
[sweep]
"flow.variant" = ["reno", "cubic"]
"bottleneck.queue" = ["20packets", "100packets"]
repeat = 3
```

A choice sets several keys at once. It is a name for these settings, and a sweep goes over the
names:

```toml
[choice.tcp]
tahoe = { "flow.variant" = "reno", "flow.recovery" = "tahoe" }
sack = { "flow.variant" = "reno", "flow.recovery" = "sack" }

[sweep]
"choice.tcp" = ["tahoe", "sack"]
```"""


def quantities() -> str:
    """The types that are text with a unit."""
    rows = [
        [kind, sentence(expected.removeprefix("a ").removeprefix("an "))]
        for kind, (_, expected) in QUANTITIES.items()
    ]
    note = (
        "Prefixes are powers of 1000: a kB is 1000 bytes; KiB, MiB, GiB and TiB are powers of 1024."
        f" The longest time is {units.LONGEST_PS // units.PS_PER_S // 86_400} days."
    )
    return f"## Quantities\n\n{table(['type', 'how it is written'], rows)}\n\n{note}"


def parent(path: str) -> str:
    """The path of the table that a key is in."""
    return path.rpartition(".")[0]


def section(path: str, own: Key | None, found: Sequence[Key], same_as: str) -> Iterator[str]:
    """The heading of a table, what it is, and its keys."""
    yield f"## {heading(path, own)}"
    if own:
        yield sentence(own.meaning)
    if path == "flow.params":
        yield "Each variant's parameters are in [variants.md](variants.md)."
    elif same_as:
        yield f"Its keys are those of `{same_as}`, above."
    else:
        yield table([f"of {KIND[path]}", *COLUMNS] if path in KIND else ["", *COLUMNS], rows(found))


KIND = {"flow.app": "workload", "bottleneck.discipline": "discipline"}
"""The tables whose keys depend on a record."""


def heading(path: str, own: Key | None) -> str:
    """A table's name as a file has it: `[bottleneck]`, `[[flow]]`, or the path of an inner one."""
    if not path:
        return "Top level"
    is_inner = "." in path or own is None
    return code(path if is_inner else f"[[{path}]]" if path in ARRAYS else f"[{path}]")


def rows(found: Sequence[Key]) -> Iterator[list[str]]:
    """A row for each key."""
    for key in found:
        default = "required" if key.is_required else code(key.default) or key.absent
        yield [
            code(key.of), code(key.path.rpartition(".")[2]), words(key.type), key.unit,
            default, code(key.example), sentence(key.meaning),
        ]  # fmt: skip


def words(kind: str) -> str:
    """A type: words of a choice as code."""
    return re.sub(r'"[^"]+"', lambda word: code(word[0]), kind)
