"""The pages of figures, tables and export formats."""

from __future__ import annotations

from narrows.schema.tables import TABLES
from narrows.testbed.reference.markdown import code, codes, page, sentence, table

TYPES = {
    "int32": "32-bit integer",
    "int64": "64-bit integer",
    "text": "text",
    "bytes": "bytes",
}


def figures() -> str:
    """Every figure, with what it needs and how to read it."""
    from narrows.analysis.figures import FIGURES

    rows = [
        [code(each.name), codes(each.needs) or "`summary.json`", sentence(each.title)]
        for each in FIGURES
    ]
    parts = []
    for each in FIGURES:
        needs = f"Needs the tables {codes(each.needs)}." if each.needs else "Needs no table."
        needs += f" Also needs {each.wants}." if each.wants else ""
        parts.append(
            f"## {each.name}\n\n{sentence(each.title)} {needs}\n\n{sentence(each.caption)}"
        )
    return page(
        "Figures",
        "`[report] figures` in a scenario names the figures that `narrows run` draws."
        " `narrows report` draws all of them for which the runs have data.",
        table(["figure", "needs", "what it shows"], rows),
        *parts,
    )


def tables() -> str:
    """Every table of a run directory, with its columns."""
    parts = []
    for name, found in TABLES.items():
        rows = [
            [code(column), kind(each.type, each.is_optional), sentence(each.about)]
            for column, each in found.columns.items()
        ]
        parts.append(f"## {name}.parquet\n\n{sentence(found.about)}")
        parts.append(table(["column", "type", "meaning"], rows))
    from narrows.analysis.flow_rows import OF_FLOW, OF_RUN

    parts.append(
        "## runs.parquet\n\nIn the directory of a scenario's results, with the same rows in"
        " `runs.csv`: one row for each flow of each run. Each swept key is a column too, by its"
        " dotted path."
    )
    flows = [[code(name), f"`flows[].{'.'.join(path)}` of [summary.json](summary.md)."]
             for name, path in OF_FLOW]  # fmt: skip
    columns = [[code(name), sentence(about)] for name, about in OF_RUN.items()]
    parts.append(table(["column", "meaning"], columns[:6] + flows + columns[6:]))
    return page(
        "Tables",
        "A run directory holds these Parquet files, apart from the last one. `[record]` in a"
        " scenario says which ones are written. A column's unit ends its name: `_ps` is"
        " picoseconds, `_bytes` bytes, `_bps` bits per second.",
        *parts,
    )


def kind(name: str, is_optional: bool) -> str:
    """A column's type in words."""
    return TYPES[name] + (" or null" if is_optional else "")


def formats() -> str:
    """Every format of `narrows export`."""
    from narrows.analysis.export import FORMATS

    rows = [
        [
            code(each.name),
            code(each.suffix) or "a directory",
            codes(each.needs) or "none",
            sentence(each.title),
        ]
        for each in FORMATS
    ]
    return page(
        "Export formats",
        "`narrows export RUNS --format NAME` writes each run as a file of this format.",
        table(["format", "file", "tables that it needs", "what it is"], rows),
    )
