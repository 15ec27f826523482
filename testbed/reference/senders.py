"""The pages of variants, recoveries, profiles and ns-2's names."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from narrows.schema import units
from narrows.testbed import catalogue
from narrows.testbed.reference.markdown import bullets, code, codes, page, sentence, table

PARAMETERS = ("parameter", "unit", "default", "from", "to", "meaning", "origin of the default")


def variants() -> str:
    """Every variant and sender of datagrams."""
    tcp, datagrams = catalogue.records("variants"), catalogue.records("senders")
    rows = [[f"[`{r['name']}`](#{r['name']})", r["class"], r["title"]] for r in (*tcp, *datagrams)]
    sections = [part for record in tcp for part in variant(record)]
    over_udp = [part for record in datagrams for part in variant(record)]
    return page(
        "Variants",
        "A variant is a congestion control. A scenario names it in `flow.variant` and sets its"
        " parameters in `flow.params`. What each was checked against is in"
        " [validation.md](../reports/validation.md).",
        table(["variant", "class", "what it is"], rows),
        *sections,
        '## Senders of datagrams\n\nA flow with `transport = "udp"` has one of these.',
        *over_udp,
    )


def variant(record: Mapping[str, Any]) -> Iterator[str]:
    """A variant's section."""
    yield f"## {record['name']}"
    yield f"{sentence(record['title'])} Source: {sentence(record['reference'])}"
    yield from about(record)
    checked = catalogue.checks("variant").get(record["name"], [])
    if checked:
        yield f"Checked by: {'; '.join(checked)}."


def about(record: Mapping[str, Any]) -> Iterator[str]:
    """What a sender needs, its parameters, and what of its source is missing."""
    if record["needs"]:
        yield f"Needs: {codes(record['needs'])}."
    yield parameters(record)
    if record["not_implemented"]:
        yield f"Not implemented:\n\n{bullets(record['not_implemented'])}"


def parameters(record: Mapping[str, Any]) -> str:
    """The table of a variant's parameters; empty without any."""
    return table(
        PARAMETERS,
        [
            [
                code(each["name"]),
                each["unit"],
                f"{each['default']:.6g}",
                f"{each['min']:.6g}",
                f"{each['max']:.6g}",
                sentence(each["meaning"]),
                sentence(each["origin"]),
            ]
            for each in record.get("parameters", ())
        ],
    )


def recoveries() -> str:
    """Every loss recovery."""
    parts = []
    for record in catalogue.records("recoveries"):
        parts.append(f"## {record['name']}")
        parts.append(f"{sentence(record['title'])} Source: {sentence(record['reference'])}")
        parts += about(record)
    return page(
        "Recoveries",
        "A recovery decides what a sender retransmits after a loss, and when. A scenario names it"
        " in `flow.recovery`. The default is `linux` with the profile `linux`, otherwise `sack`.",
        *parts,
    )


def profiles() -> str:
    """What TCPs differ in besides congestion control: a column for each profile."""
    records, properties = catalogue.records("profiles"), profile_settings()
    keys = [key for key in records[0] if key not in ("name", "title", "reference")]
    rows = [
        [
            code(key),
            *(setting(key, record.get(key)) for record in records),
            sentence(properties[key]["description"].replace("[`SegmentSize::Mss`]", "an `mss`")),
        ]
        for key in keys
    ]
    titles = [[code(record["name"]), sentence(record["title"])] for record in records]
    return page(
        "Profiles",
        "A profile says what a TCP does besides congestion control. A scenario names it in"
        " `profile`, a flow in `flow.profile`. Keys of a flow take precedence.",
        table(["profile", "what it is"], titles),
        table(["setting", *(code(record["name"]) for record in records), "meaning"], rows),
    )


@functools.cache
def schema() -> dict[str, Any]:
    """The types of the engine's records, as JSON Schema."""
    text = resources.files("narrows.schema").joinpath("records.schema.json").read_text()
    found: dict[str, Any] = json.loads(text)["$defs"]
    return found


def profile_settings() -> dict[str, Any]:
    """The type of each setting of a profile."""
    found: dict[str, Any] = schema()["ProfileRecord"]["properties"]
    return found


@functools.cache
def durations() -> frozenset[str]:
    """The names of all settings that are times."""
    time = "#/$defs/Duration"
    return frozenset(
        name
        for kind in schema().values()
        for part in (kind, *kind.get("oneOf", ()), *kind.get("anyOf", ()))
        for name, found in inner_properties(part)
        if time in (found.get("$ref"), *(each.get("$ref") for each in found.get("anyOf", ())))
    )


def inner_properties(part: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The properties of an object and of the objects in it."""
    for name, found in part.get("properties", {}).items():
        yield name, found
        yield from inner_properties(found)


def setting(name: str, found: Any) -> str:
    """A setting of a profile, in words."""
    match found:
        case None:
            return "none"
        case bool():
            return "yes" if found else "no"
        case list() | tuple():
            return ", ".join(setting(name, each) for each in found)
        case dict():
            return ", ".join(f"{key} {setting(key, each)}" for key, each in found.items())
        case int() if name in durations():
            return units.format_duration(found)
        case float():
            return f"{found:g}"
    return str(found)


def ns2_names() -> str:
    """ns-2's sources and sinks, and what they stand for."""
    agents = [
        [
            code(record["name"]),
            codes(record["aliases"]),
            code(record["variant"]),
            code(record["recovery"]),
            ", ".join(f"{name} = {number:g}" for name, number in record["parameters"]),
            "" if record["segment_bytes"] is None else str(record["segment_bytes"]),
            code(record["sink"]),
            sentence(record["title"]),
        ]
        for record in catalogue.records("agents")
    ]
    sinks = [
        [
            code(record["name"]),
            codes(record["aliases"]),
            setting("", record["sack"]),
            setting("", record["delayed_ack"]),
            setting("", record["ack_control"]),
            sentence(record["title"]),
        ]
        for record in catalogue.records("sinks")
    ]
    return page(
        "ns-2's names",
        "A flow's `variant` may be the name of an ns-2 source. It stands for a variant, a recovery"
        " and the source's own values. `recovery` takes these names too, `sink` the receivers'.",
        "## Sources",
        table(
            [
                "source",
                "also",
                "variant",
                "recovery",
                "parameters",
                "segment (bytes)",
                "sink",
                "what it is",
            ],
            agents,
        ),
        "## Receivers",
        table(["sink", "also", "SACK", "delayed ACK", "ACK control", "what it is"], sinks),
    )
