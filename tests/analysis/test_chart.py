"""Charts before they are drawn: ends of axes, legends, boxes, ellipses, colours."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from narrows.analysis.chart import paper, screen, style
from narrows.analysis.chart.boxes import box
from narrows.analysis.chart.ellipse import ellipse
from narrows.analysis.chart.model import Area, Axis, Chart, Look, Panel, Rule, Trace, from_zero

ARRAY = np.array


def line(*y: float, name: str = "") -> Trace:
    return Trace(np.arange(float(len(y))), ARRAY(y), name=name)


@pytest.mark.parametrize(
    ("axis", "data", "ends"),
    [
        (Axis(pad=(0.1, 0.2)), [2.0, 12.0], (1.0, 14.0)),
        (from_zero(""), [4.0, 10.0], (-0.3, 10.5)),
        (Axis(low=0, high=1, pad=(0, 0)), [0.2, 7.0], (0, 1)),
        (Axis(pad=(0, 0)), [], (0, 1)),
        (Axis(pad=(0, 0)), [3.0, math.nan], (3, 6)),
        (Axis(pad=(0.5, 0.5), log=True), [1.0, 100.0, 0.0], (0.1, 1000)),
    ],
)
def test_an_axis_ends_where_its_data_does(
    axis: Axis, data: list[float], ends: tuple[float, float]
) -> None:
    assert axis.limits([ARRAY(data)]) == pytest.approx(ends)


def test_panels_share_the_ends_that_they_are_said_to_share() -> None:
    panels = [Panel([line(0, top)]) for top in (1.0, 2.0, 4.0, 8.0)]
    tops = {
        shared: [high for _, high in Chart(
            panels, y=Axis(pad=(0, 0), shared=shared), columns=2).limits("y")]
        for shared in ("all", "row", "none")
    }  # fmt: skip
    assert tops == {"all": [8, 8, 8, 8], "row": [2, 2, 8, 8], "none": [1, 2, 4, 8]}


def test_ranges_and_rules_lie_within_the_axis() -> None:
    ranged = Trace(ARRAY([0.0]), ARRAY([5.0]), low=ARRAY([1.0]), high=ARRAY([9.0]))
    chart = Chart([Panel([ranged, Rule(y=12.0)])], y=Axis(pad=(0, 0)))
    assert chart.limits("y") == [(1, 12)]


def test_a_legend_names_each_series_once_and_the_keys_last() -> None:
    panels = [
        Panel([line(1, name="limit"), line(1, name="a")]),
        Panel([line(1, name="a"), line(1)]),
    ]
    chart = Chart(panels, keys=[("limit", Look("ink"))])
    assert [(name, look.colour) for name, _, look in chart.legend] == [("a", 0), ("limit", "ink")]


def test_a_box_stands_on_its_quartiles() -> None:
    marks = box(3, 1, {5: 1.0, 25: 2.0, 50: 3.0, 75: 4.0, 95: 9.0}, 3.5, 0, "n")
    outline = next(mark for mark in marks if isinstance(mark, Area))
    assert (min(outline.y), max(outline.y)) == (2, 4)
    assert (min(outline.x), max(outline.x)) == (2.5, 3.5)
    ends = [float(y) for mark in marks if isinstance(mark, Trace) for y in mark.y]
    assert (min(ends), max(ends)) == (1, 9)
    assert marks[-1].y == [3.5] if isinstance(marks[-1], Trace) else False


def test_an_ellipse_reaches_one_deviation_along_each_axis() -> None:
    """Uncorrelated points: a variance of 4 (from -2 and 2) in x and of 1 in y, n - 1 = 3."""
    points = ARRAY([[8.0, 0.0], [12.0, 0.0], [10.0, -1.0], [10.0, 1.0]])
    (contour,) = ellipse(points, 0, "n")
    assert max(contour.x) - 10 == pytest.approx(math.sqrt(8 / 3), rel=1e-3)
    assert max(contour.y) == pytest.approx(math.sqrt(2 / 3), rel=1e-3)
    assert ellipse(points[:2], 0, "n") == []


def test_the_screen_gets_the_same_ends_and_no_markup() -> None:
    chart = Chart([Panel([line(0, 1 / 3, name="</script>")], "t")], y=Axis(pad=(0, 0)))
    text = screen.as_json(chart)
    said = json.loads(text)
    assert "<" not in text
    assert said["panels"][0]["marks"][0]["name"] == "</script>"
    assert said["panels"][0]["marks"][0]["y"] == [0, 0.33333]
    assert said["panels"][0]["y"]["ends"] == [0, 0.33333]


@pytest.mark.parametrize("scale", [style.SCALE, style.TWO_SIDED])
def test_numbers_in_cells_are_read_on_every_colour(scale: tuple[str, ...]) -> None:
    """At the scale's colours themselves: 3 to 1 or better, as WCAG asks of large text."""

    def luminance(colour: str) -> float:
        shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    for place, colour in enumerate(scale):
        text = "#ffffff" if style.is_dark(scale, place / (len(scale) - 1)) else style.INK
        light, dark = sorted([luminance(colour), luminance(text)], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3, colour


def test_a_dollar_sign_in_a_name_is_text_on_paper() -> None:
    name = r"$\nope{$ and $5"
    drawn = Panel([line(1, 100, name=name)], name)
    chart = Chart([drawn], x=Axis(name), y=Axis(name, pad=(0.1, 0.1), log=True))
    assert paper.files(chart, ["svg"])["svg"].startswith(b"<?xml")


def test_a_log_axis_has_its_powers_as_text() -> None:
    powers = paper.Powers()
    powers.create_dummy_axis()
    assert [powers(10.0**exponent) for exponent in (-2, 0, 3)] == ["10⁻²", "10⁰", "10³"]
