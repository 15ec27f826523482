"""A page of results: sections of blocks, in one HTML file that needs no network.

    page = Page("Title", "What it is about.", [
        Section("Results", [
            Text("One paragraph, `code` in backticks."),
            Table([Column("Variant"), Column("Goodput", "Mb/s", digits=2)], [["reno", 4.71]]),
            Plot("cwnd", "Congestion window", "How to read it.", chart),
        ]),
    ])
    page.write(Path("report.html"))

`chart` is an `analysis.chart.model.Chart`. The templates are `page.html`, `blocks.html` and
`figure.html`. The style is `page.css`, the script that sorts tables and saves figures `page.js`,
the one that draws charts `chart.js`; the library under it is the JavaScript that the installed
plotly package brings, once per page and only where there is a chart.
"""

from narrows.analysis.page.blocks import (
    Alert,
    Badge,
    Block,
    Code,
    Column,
    Details,
    Lines,
    Plot,
    Section,
    Table,
    Text,
    Value,
    Values,
    Verdict,
)
from narrows.analysis.page.document import Page

__all__ = [
    "Alert",
    "Badge",
    "Block",
    "Code",
    "Column",
    "Details",
    "Lines",
    "Page",
    "Plot",
    "Section",
    "Table",
    "Text",
    "Value",
    "Values",
    "Verdict",
]
