"""`python -m narrows.schema.generate`: the Python types of what the engine reads and writes.

The Rust types are the definition. `engine/tests/schema.rs` writes them as JSON Schema, and this
module writes each schema as a module of `TypedDict`s, which cost nothing where they are imported
for type checking only. `make schema` does both; `--check` says whether the modules are in step.
"""

from __future__ import annotations

import json
import keyword
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Schema = dict[str, Any]
"""A JSON Schema: JSON by its nature."""

HERE = Path(__file__).parent
MODULES = {
    "flow": "A plan's hosts and flows: what the senders and receivers are told.",
    "switch": "A switch's configuration and state: what its controller tells it.",
    "plan": "The plan of a run: what the engine reads.",
    "summary": "What a run comes to: `summary.json`.",
    "records": "The engine's records: what it has of variants, recoveries, workloads and the like.",
}
PARTS = {
    "flow": ("plan", ("FlowConfig", "HostConfig")),
    "switch": (
        "plan",
        (
            "SwitchConfig",
            "ManagedSwitchConfig",
            "TableEntry",
            "CloneSession",
            "DefaultAction",
            "ProfileMember",
            "ProfileGroup",
        ),
    ),
}
"""The modules that have a part of a schema: whose, and the definitions with all that they name."""
WRITTEN = {"summary", "records"}
"""The modules of what the engine writes."""
WIDTH = 100
PLAIN = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "null": "None"}


@dataclass
class Module:
    """A module in the making: its definitions in the order in which Python needs them."""

    definitions: Mapping[str, Schema]
    imported: Mapping[str, str]
    """Definitions of earlier modules, with those modules' names."""
    is_output: bool
    """True for what the engine writes."""
    alternatives: frozenset[str]
    """Tables of unions, which a type checker tells apart by their keys when they are final."""
    written: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    """Names that are imported from earlier modules."""

    def define(self, name: str) -> None:
        """Writes a definition, after those that it names."""
        if name in self.imported:
            self.used.add(name)
        elif name not in self.written:
            self.written[name] = ""
            text = self.definition(name, self.definitions[name])
            # Put it behind what it needed.
            del self.written[name]
            self.written[name] = text

    def definition(self, name: str, schema: Schema) -> str:
        """A definition as Python."""
        choices = schema.get("oneOf") or schema.get("anyOf")
        if choices is None and "properties" in schema:
            return self.table(name, schema)
        if choices is None:
            return alias(name, self.type(schema), describe(schema))
        words = [choice for choice in choices if "const" in choice or "enum" in choice]
        notes = [f"{choice['const']}: {describe(choice)}" for choice in words if "const" in choice]
        parts = [literal(words)] if words else []
        for choice in choices:
            if choice in words:
                continue
            if "properties" in choice:
                part = name + pascal(variant(choice))
                self.written.pop(part, None)
                self.written[part] = self.table(part, choice)
                parts.append(part)
            else:
                parts.append(self.type(choice))
        return alias(name, " | ".join(parts), "\n".join(filter(None, [describe(schema), *notes])))

    def table(self, name: str, schema: Schema) -> str:
        """An object with keys as a `TypedDict`."""
        fields = dict(self.fields(schema))
        text = describe(schema)
        if any(keyword.iskeyword(key) or not key.isidentifier() for key in fields):
            return functional(name, fields, text)
        mark = ["@final"] * (name in self.alternatives)
        lines = [*mark, f"class {name}(TypedDict):", *docstring(text), *[""] * bool(text)]
        for key, (type_, about) in fields.items():
            lines += [f"    {key}: {type_}", *docstring(about)]
        return "\n".join(lines)

    def fields(self, schema: Schema) -> Iterator[tuple[str, tuple[str, str]]]:
        """The keys of an object with their types and what they mean; those that must be there
        come first, in the order of the Rust type.
        """
        properties, required = schema["properties"], schema.get("required", [])
        order = [*required, *(key for key in properties if key not in required)]
        for key in order:
            type_ = self.type(properties[key])
            if key not in required:
                # What the engine leaves out is never null.
                type_ = type_.removesuffix(" | None") if self.is_output else type_
                type_ = f"NotRequired[{type_}]"
            yield key, (type_, describe(properties[key]))

    def type(self, schema: Schema | bool) -> str:
        """A schema as a type."""
        if isinstance(schema, bool):
            return "object"
        if "$ref" in schema:
            name = target(schema)
            self.define(name)
            return name
        for choice in ("anyOf", "oneOf"):
            if choice in schema:
                return " | ".join(dict.fromkeys(self.type(part) for part in schema[choice]))
        if "const" in schema or "enum" in schema:
            return literal([schema])
        kinds = schema.get("type", "object")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        return " | ".join(self.of_kind(kind, schema) for kind in kinds)

    def of_kind(self, kind: str, schema: Schema) -> str:
        """A schema of one JSON type as a type."""
        if kind == "array":
            parts = schema.get("prefixItems") or [schema["items"]]
            return f"list[{' | '.join(dict.fromkeys(self.type(part) for part in parts))}]"
        if kind == "object":
            return f"dict[str, {self.type(schema.get('additionalProperties', True))}]"
        return PLAIN[kind]


def alternatives(definitions: Mapping[str, Schema]) -> frozenset[str]:
    """The tables that are parts of unions."""
    found = set[str]()
    for name, schema in definitions.items():
        for choice in schema.get("anyOf") or schema.get("oneOf") or ():
            found.add(target(choice) if "$ref" in choice else name + pascal(variant(choice)))
    return frozenset(found)


def target(schema: Schema) -> str:
    """The definition that a reference names."""
    return str(schema["$ref"]).rpartition("/")[2]


def variant(schema: Schema) -> str:
    """What tells a table of a union from the others: its tag, or its only key."""
    for part in schema.get("properties", {}).values():
        if isinstance(part, dict) and "const" in part:
            return str(part["const"])
    return str(schema.get("required", [""])[0])


def pascal(name: str) -> str:
    """`request-response` as `RequestResponse`."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[-_]", name))


def literal(words: Sequence[Schema]) -> str:
    """Constants as a type."""
    values = [value for word in words for value in word.get("enum", [word.get("const")])]
    return f"Literal[{', '.join(json.dumps(value) for value in values)}]"


def describe(schema: Schema | bool) -> str:
    """A description, as Python's docs have it."""
    text = "" if isinstance(schema, bool) else str(schema.get("description", ""))
    text = re.sub(r"(?<!\n)\n(?!\n)", " ", text)
    text = re.sub(r"\[(`[^`]*`)\](\([^)]*\))?", r"\1", text)
    return re.sub(r"`crate::(?:\w+::)*(\w+)`", r"`\1`", text).replace("::", ".")


def wrapped(text: str, indent: str, room: int = 0) -> list[str]:
    """Paragraphs as lines that leave `room` columns."""
    lines = list[str]()
    for paragraph in re.sub("\n+", "\n", text).split("\n"):
        lines += textwrap.wrap(
            paragraph, WIDTH - room, initial_indent=indent, subsequent_indent=indent
        ) or [""]
    return lines


def docstring(text: str) -> list[str]:
    """What a name means, below it."""
    if not text:
        return []
    quote = 'r"""' if "\\" in text else '"""'
    lines = wrapped(text, "    ", len(quote))
    lines[0] = f"    {quote}{lines[0].strip()}"
    if len(lines) == 1 and len(lines[0]) + 3 <= WIDTH:
        return [lines[0] + '"""']
    return [*lines, '    """'] if len(lines) > 1 else [lines[0], '    """']


def alias(name: str, type_: str, about: str) -> str:
    """A name for a type."""
    line = f"{name} = {type_}"
    if len(line) > WIDTH:
        if words := re.fullmatch(r"Literal\[([^\[\]]*)\]", type_):
            parts = words[1].split(", ")
            line = f"{name} = Literal[\n" + "".join(f"    {part},\n" for part in parts) + "]"
        else:
            gap = " | " if len(type_) + 4 <= WIDTH else "\n    | "
            line = f"{name} = (\n    " + gap.join(type_.split(" | ")) + "\n)"
    return "\n".join([line, *(line.removeprefix("    ") for line in docstring(about))])


def functional(name: str, fields: Mapping[str, tuple[str, str]], about: str) -> str:
    """A `TypedDict` some of whose keys are Python's own words."""
    lines = [f"{name} = TypedDict(", f'    "{name}",', "    {"]
    for key, (type_, text) in fields.items():
        lines += [*wrapped(text, "        # ")] if text else []
        lines.append(f'        "{key}": {type_},')
    return "\n".join([*lines, "    },", ")", *(line[4:] for line in docstring(about))])


def modules() -> dict[str, str]:
    """Every module's text, by its name."""
    made, imported = dict[str, str](), dict[str, str]()
    for name, about in MODULES.items():
        source, roots = PARTS.get(name, (name, ()))
        schema = json.loads((HERE / f"{source}.schema.json").read_text(encoding="utf-8"))
        root = str(schema.get("title", ""))
        definitions = dict(schema.get("$defs", {}))
        if "properties" in schema:
            definitions[root] = schema
        module = Module(definitions, imported, name in WRITTEN, alternatives(definitions))
        for definition in roots or definitions:
            if definition not in imported:
                module.define(definition)
        made[name] = module_text(about, module)
        imported |= dict.fromkeys(module.written, name)
    return made


def module_text(about: str, module: Module) -> str:
    """A whole module."""
    body = "\n\n\n".join(module.written.values())
    marks = ("Literal[", "NotRequired[", "TypedDict", "@final")
    names = [mark.strip("@[") for mark in marks if mark in body]
    head = [
        f'"""{about}\n\nGenerated by `make schema` from the Rust types; edit those.\n"""',
        "",
        "from __future__ import annotations",
        "",
        f"from typing import {', '.join(names)}",
    ]
    by_module = dict[str, list[str]]()
    for name in sorted(module.used):
        by_module.setdefault(module.imported[name], []).append(name)
    if by_module:
        head.append("")
    for source, found in sorted(by_module.items()):
        line = f"from narrows.schema.{source} import {', '.join(found)}"
        if len(line) > WIDTH:
            names_apart = "".join(f"    {name},\n" for name in found)
            line = f"from narrows.schema.{source} import (\n{names_apart})"
        head.append(line)
    gap = "\n\n\n" if body.startswith(("class ", "@final")) else "\n\n"
    return "\n".join(head) + gap + body + "\n"


def main() -> int:
    """Writes the modules; with `--check` exit code 1 where one is out of step."""
    stale = 0
    for name, text in modules().items():
        path = HERE / f"{name}.py"
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if "--check" in sys.argv:
            print(f"{path.name} is out of step: make schema", file=sys.stderr)
            stale = 1
        else:
            path.write_text(text, encoding="utf-8")
    return stale


if __name__ == "__main__":
    sys.exit(main())
