"""Charts: one specification gives page, SVG and PNG; foreign text draws nothing and points nowhere."""

import json
import re
import struct
from collections.abc import Callable
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.report import chart_kit
from evenhand.report.chart_items import MOST_POINTS, Reruns, judge_against_humans, rerun_spread
from evenhand.report.chart_kit import COLOURS, Figure, inline_svg, labels, png_file, stated, svg_file, wrapped
from evenhand.report.chart_rows import DifferenceRow, Panel, Row, agreement, paired_differences, study_table
from evenhand.report.charts import Part, Scores, axis_of, binned, distribution, drift, level_shares, probe_histogram
from evenhand.report.pages import stylesheet
from evenhand.stats.estimates import Estimate

altair = pytest.importorskip("altair", reason="charts need the extra `figures`")
pytest.importorskip("vl_convert", reason="charts need the extra `figures`")

HOSTILE = [
    "<script>alert(1)</script>",
    '"] | datum.x',
    "']; alert(1); //",
    "\\u003cscript\\u003e ${datum.x}",
    "](http://evil.example/x.png)",
    "a" * 3000,
    "שלום עולם \u202egnp.exe",
    "one\ntwo\r\nthree\x00\x1b[31m\ud800\ufffe",
    "",
    "javascript:alert(1)",
    "datum['x']",
    "<foreignObject onload=alert(1)>",
    "]]><!-- &lt; &#x3c;script",
]
RHO = Estimate(value=0.6, low=0.5, high=0.7, n=60)
UNDEFINED = Estimate.of_nothing("the judge gave one value", n=60)


def makers(text: str) -> dict[str, Callable[[], Figure]]:
    """Each kind of chart, with foreign text wherever it can stand."""
    bare, better = (Scores(label=text, levels=levels, counts=(3, 30, 7)) for levels in ((6, 7, 8), (2, 5, 9)))
    axis = axis_of(1, 10, 1, bare, better)
    ceiling = Estimate(value=0.72, low=0.66, high=0.78, n=60)
    parts = [Part(scores=bare, mean=7.0, sd=0.5), Part(scores=better, mean=5.0, sd=2.0)]
    grades = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    runs = [Reruns(item=text, scores=(3.0, 4.0, 4.0), human=4.0), Reruns(item=text, scores=(5.0, 5.0))]
    rows = [
        Row(label=text, found=RHO, ceiling=ceiling),
        Row(label=text, found=Estimate.of_nothing(text, n=60), ceiling=ceiling),
        Row(label=text, found=RHO, human=True),
    ]
    pairs = [
        DifferenceRow(label=text, found=RHO, low=0.4, high=0.8, detectable=0.15),
        DifferenceRow(label=text, found=UNDEFINED, low=None, high=None, detectable=None),
    ]
    panels = [Panel(title="rho", values=[RHO, UNDEFINED], ceiling=ceiling)]
    return {
        "one": lambda: distribution("one", text, [bare], axis, [text]),
        "two": lambda: distribution("two", text, [bare, better], axis, [text]),
        "levels": lambda: level_shares("levels", text, [bare, better], axis, [text]),
        "drift": lambda: drift("drift", text, parts, axis, [text]),
        "changes": lambda: drift("changes", text, parts, axis, [text], proportional=True, when="scores"),
        "probe": lambda: probe_histogram("probe", text, bare, (1, 10), 2, [text]),
        "items": lambda: judge_against_humans("items", text, grades, grades[::-1], [text], same=True),
        "reruns": lambda: rerun_spread("reruns", text, runs, [text]),
        "agreement": lambda: agreement("agreement", text, rows, [text], what="rho"),
        "differences": lambda: paired_differences("differences", text, pairs, [text], what="difference of rho"),
        "study": lambda: study_table("study", text, [text, text], panels, [text]),
    }


def every_figure(text: str) -> list[Figure]:
    """All of them."""
    return [make() for make in makers(text).values()]


ELEMENTS = {"svg", "g", "path", "rect", "line", "text", "tspan", "defs", "clipPath", "title"}


def refuse_anything_live(svg: str) -> None:
    """No script, no event, no reference but to a clip of the same picture."""
    root = ET.fromstring(svg)
    ids = {element.attrib["id"] for element in root.iter() if "id" in element.attrib}
    for element in root.iter():
        assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in ELEMENTS
        for key, value in element.attrib.items():
            assert not key.casefold().startswith("on")
            assert key not in ("style", "src")
            assert "href" not in key
            if "url(" in value:
                assert key == "clip-path"
                assert re.fullmatch(r"url\(#([\w-]+)\)", value)[1] in ids
            assert "://" not in value
            assert "script" not in value.casefold()


@pytest.mark.parametrize("shift", [0, 5])
def test_foreign_text_cannot_run_or_fetch_anything(shift):
    """Each chart with another text, twice over; each text in a chart of its own kind."""
    for place, kind in enumerate(makers("")):
        figure = makers(HOSTILE[(place + shift) % len(HOSTILE)])[kind]()
        refuse_anything_live(inline_svg(figure, "c1"))


def test_every_specification_is_valid():
    for figure in every_figure("a judge"):
        chart = {key: value for key, value in figure.spec.items() if key != "datasets"}
        altair.Chart.from_dict(chart)  # which holds it to the schema


def test_foreign_text_is_data_and_never_a_field_or_an_expression():
    mark = "STRANGER'] | datum"
    for figure in every_figure(mark):
        spec = {key: value for key, value in figure.spec.items() if key not in ("datasets", "title")}
        domains = re.compile(r'"domain": \[[^]]*\]')
        assert "STRANGER" not in domains.sub("", json.dumps(spec).replace(mark, "STRANGER"))


@given(st.text(max_size=40))
@settings(max_examples=6, deadline=None)
def test_any_text_makes_a_well_formed_picture(text):
    axis = axis_of(1, 10, 1)
    refuse_anything_live(
        svg_file(level_shares("l", text, [Scores(label=text, levels=(7,), counts=(3,))], axis, [text]))
    )


@pytest.fixture(scope="module")
def drawn() -> dict[str, str]:
    """Each kind of chart, drawn once."""
    return {figure.name: str(inline_svg(figure, "c1")) for figure in every_figure("a judge")}


@pytest.mark.parametrize("name", ["one", "study"])
def test_a_png_has_two_pixels_for_each_of_the_svg(name, drawn):
    root = ET.fromstring(drawn[name])
    data = png_file(makers("a judge")[name]())
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    assert (width, height) == pytest.approx((2 * float(root.attrib["width"]), 2 * float(root.attrib["height"])), abs=2)


def test_a_figure_is_no_wider_than_its_column(drawn):
    for svg in drawn.values():
        assert float(ET.fromstring(svg).attrib["width"]) <= 510


def test_ids_of_two_figures_of_a_page_differ():
    figure = makers("a judge")["items"]()
    first, second = (set(re.findall(r'id="([^"]+)"', inline_svg(figure, prefix))) for prefix in ("c1", "c2"))
    assert first
    assert not first & second


def test_the_stylesheet_knows_every_colour_on_dark_paper(drawn):
    for colour in COLOURS:
        assert f'[fill="{colour}"]' in stylesheet()
    for svg in drawn.values():
        assert set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]+)"', svg)) <= set(COLOURS)
        for colour in re.findall(r'stroke="(#[0-9a-f]+)"', svg):
            assert f'[stroke="{colour}"]' in stylesheet()


def test_what_is_undefined_is_said_with_its_reason():
    text = svg_file(agreement("a", "t", [Row(label="j", found=UNDEFINED)], what="rho"))
    assert "undefined: the judge gave one value" in text
    assert "undefined: there are no scores" in svg_file(
        distribution("d", "t", [Scores(label="", levels=(), counts=())], axis_of(1, 10, 1))
    )
    assert "undefined: no item was scored more than once" in svg_file(rerun_spread("r", "t", []))


def test_names_that_shortening_makes_equal_stay_apart():
    assert labels(["judge " + "x" * 90 + str(k) for k in range(3)]) == [
        f"judge {'x' * 7}…{'x' * 11}{k}" for k in range(3)
    ]
    same_at_both_ends = ["judge " + "x" * 90 + str(k) + "y" * 30 for k in range(2)]
    assert labels(same_at_both_ends) == [f"judge {'x' * 7}…{'y' * 12}", f"judge {'x' * 7}…{'y' * 12} (2)"]


def test_many_items_are_sampled_and_the_share_is_said():
    rng = np.random.default_rng(1)
    human = rng.integers(1, 6, 20_000).astype(float)
    figure = judge_against_humans("i", "t", human, human, same=True)
    rows = figure.spec["datasets"]["rows"]
    assert sum(row["kind"] == "point" for row in rows) == MOST_POINTS
    assert len(rows) < 2 * MOST_POINTS
    assert any("a sample of 1,500 (7.5" in note for note in figure.notes)


def test_a_million_scores_cost_what_their_levels_cost():
    scores = Scores(label="", levels=tuple(k / 100 for k in range(10_001)), counts=(100,) * 10_001)
    figure = distribution("d", "t", [scores], axis_of(0, 100, 10, scores))
    assert len(figure.spec["datasets"]["rows"]) <= 20


@given(st.lists(st.floats(0, 10, allow_nan=False), min_size=1, max_size=50, unique=True))
@settings(max_examples=60, deadline=None)
def test_no_score_is_lost_by_binning(levels):
    scores = Scores(label="", levels=tuple(sorted(levels)), counts=(2,) * len(levels))
    assert sum(binned(scores, axis_of(0, 10, 1, scores))) == scores.n


def test_values_stand_on_their_own_levels():
    scores = Scores(label="", levels=(1, 5, 10), counts=(1, 2, 3))
    assert binned(scores, axis_of(1, 10, 1, scores)) == [1, 0, 0, 0, 2, 0, 0, 0, 0, 3]


def test_a_figure_in_words_has_interval_and_n():
    assert stated("rho", RHO) == "rho 0.6, 95 % interval 0.5 to 0.7, n 60 items"
    assert stated("rho", UNDEFINED) == "rho undefined: the judge gave one value (n 60 items)"


def test_without_the_extra_one_sentence_names_it(monkeypatch):
    monkeypatch.setattr(chart_kit, "find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match=r'figures need the extra "figures"; install it with'):
        chart_kit.altair()


def test_capitals_and_wide_signs_leave_no_line_wider_than_the_figure():
    words = "AMBIGUOUS, in 90 % of 2,000 resamples; NOT SURE: it holds 90 % of the resamples, and 95 % are needed."
    for text, widths in ((words, (83, 54)), ("評価者の一致度" * 30, (83,)), ("W" * 200, (54,))):
        for most in widths:
            lines = wrapped(text, most)
            assert "".join(lines).replace(" ", "") == text.replace(" ", "")
            assert all(
                sum(2 if ord(sign) > 0x2FFF else 1.35 if sign.isupper() else 1 for sign in one) <= most for one in lines
            )
