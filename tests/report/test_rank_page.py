"""The ranking page as a file: what it holds, what it allows, what it says."""

import base64
import hashlib
import json
import re

import pytest

from evenhand.composite.reweighting.form import weighted_form
from evenhand.composite.rule.parse import parse_rule
from evenhand.composite.table import Table
from evenhand.composite.verify import verify
from evenhand.errors import InvalidInput
from evenhand.report.rank_model import rank_model
from evenhand.report.rank_page import rank_page
from evenhand.report.rank_shares import leader_shares

CELLS = {"a": ["80.0", "60.0", "70.0"], "b": ["60.0", "79.0", "50.0"], "s": ["70.0", "69.5", "61.0"]}


@pytest.fixture
def table():
    return Table.of_texts(CELLS, names=["Crane", "Heron", "Ibis"], source="/srv/someone/board.csv")


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def model(text, table):
    return rank_model(parse_rule(text), table)


def test_only_the_script_and_the_style_of_the_page_are_allowed(table):
    page = rank_page(parse_rule("mean(a, b)"), table, score="s")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    for tag in ("style", "script"):
        inner = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_the_page_names_no_address_and_writes_no_markup(table):
    page = rank_page(parse_rule("mean(a, b)"), table)
    assert not re.search(r"https?:|//[a-z]|@import|url\(", re.sub(r"^\s*//.*$", "", page, flags=re.M))
    for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("):
        assert forbidden not in page


def test_nothing_from_the_table_can_end_the_data_block(hostile):
    names = [hostile, "</script><script>alert(1)</script>", "<!--<script>"]
    cells = {hostile[:50].replace("`", ""): ["1", "2", "3"], "b": ["3", "1", "2"]}
    column = next(iter(cells))
    table = Table.of_texts(cells, names=names, source=hostile)
    page = rank_page(parse_rule(f"mean(`{column}`, b)"), table, title=hostile)
    assert page.count("<script") == 2
    assert "<img" not in page
    assert len(data_of(page)["names"]) == 3


def test_only_the_name_of_the_file_is_shown_not_where_it_lies(table):
    page = rank_page(parse_rule("mean(a, b)"), table)
    assert "board.csv" in page
    assert "someone" not in page


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("mean(a, b)", "reproduces every published score but 1"),
        ("geomean(a, b)", "refute"),
    ],
)
def test_a_rule_that_breaks_is_said_at_the_top(table, rule, said):
    parsed = parse_rule(rule)
    page = rank_page(parsed, table, score="s", verification=verify(parsed, table, "s"))
    banner = re.search(r'id="banner"[^>]*>(.*?)</p>', page)[1]
    assert said in banner
    assert data_of(page)["broken"]


def test_a_rule_that_holds_has_no_banner(table):
    whole = table.where([0, 1])
    parsed = parse_rule("mean(a, b)")
    assert 'id="banner"' not in rank_page(parsed, whole, score="s", verification=verify(parsed, whole, "s"))


def test_a_rule_that_was_not_checked_says_so(table):
    assert "was not checked: no column of published scores was named" in rank_page(parse_rule("mean(a, b)"), table)


def test_every_preset_prints_weights_that_sum_to_one(table):
    page = rank_page(parse_rule("mean(a: 2, b: 1)"), table, presets={"mine": {"a": 3, "b": 1}})
    presets = data_of(page)["presets"]
    assert [preset["name"] for preset in presets] == ["Published", "Equal", "mine"]
    assert all(sum(preset["weights"]) == pytest.approx(1, abs=1e-12) for preset in presets)


def test_shares_drawn_beforehand_are_in_the_page_with_their_seed(table):
    shares = leader_shares(parse_rule("mean(a, b)"), table, n_draws=2000, seed=7)
    found = data_of(rank_page(parse_rule("mean(a, b)"), table, shares=shares))["shares"]
    assert (found["draws"], found["seed"]) == (2000, 7)
    assert sum(share for _, share, _ in found["leaders"]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("rule", "labels", "weights", "kind"),
    [
        ("geomean(a, b)", ("a", "b"), (0.5, 0.5), ("power", 0.0)),
        ("3 * a + b", ("a", "b"), (0.75, 0.25), ("power", 1.0)),
        ("(a + 2 * b) / 3 + 1", ("a", "b"), (1 / 3, 2 / 3), ("power", 1.0)),
        ("a * b", ("a", "b"), (0.5, 0.5), ("power", 0.0)),
        ("max(a, b)", ("a", "b"), (0.5, 0.5), ("max", 1.0)),
        ("power(3, a: 1, b: 3)", ("a", "b"), (0.25, 0.75), ("power", 3.0)),
        ("mean(a, max(a, 65))", ("a", "max(a, 65)"), (0.5, 0.5), ("power", 1.0)),
        ("if(a > 1, mean(a, b), mean(a: 9, b: 1))", ("a", "b"), (0.5, 0.5), ("power", 1.0)),
    ],
)
def test_the_sliders_are_the_outermost_weights(table, rule, labels, weights, kind):
    found = model(rule, table)
    assert (found.labels, (found.aggregator, found.exponent)) == (labels, kind)
    assert found.weights == pytest.approx(weights)


@pytest.mark.parametrize(
    ("rule", "linear"),
    [
        ("mean(a, b) * min(1, a / 70)", True),
        ("rescale(geomean(a, b), 100)", True),
        ("min(65, mean(a, b))", False),
        ("mean(a, b) + a", False),
        ("mean(a, b) * (a - 70)", False),
    ],
)
def test_the_nearest_change_is_exact_only_where_the_rule_is_linear_in_its_weights(table, rule, linear):
    assert model(rule, table).is_linear is linear


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("a", "nothing in it is weighed"),
        ("if(a > 70, mean(a, b), mean(a: 2, b: 1))", "--where"),
        ("mean(a: 1, b: -0.5)", "negative weight"),
    ],
)
def test_a_rule_without_sliders_is_refused_in_one_sentence(table, rule, said):
    with pytest.raises(InvalidInput, match=said):
        model(rule, table)


def test_a_table_without_any_score_is_refused():
    table = Table.of_texts({"a": ["1", "2"], "b": ["1", "2"], "s": ["", "n/a"]})
    with pytest.raises(InvalidInput, match="no row has a score"):
        rank_page(parse_rule("mean(a, b)"), table, score="s")


def test_half_on_a_column_is_a_preset_where_it_is_not_the_equal_weights(table):
    found = data_of(rank_page(parse_rule("mean(a, b, s)"), table))["presets"]
    assert [preset["name"] for preset in found] == ["Published", "Half on a", "Half on b", "Half on s"]


def test_a_rule_that_holds_under_truncation_alone_has_a_banner_that_says_so():
    table = Table.of_texts({"a": ["80", "60", "50"], "b": ["60", "79", "70"], "s": ["71.0", "69.5", "60.0"]})
    rule = parse_rule("mean(a, b)")
    page = rank_page(rule, table, score="s", verification=verify(rule, table, "s"))
    assert "under truncation throughout; under half-up it fails on 1 row" in page


@pytest.mark.parametrize(
    "text",
    [
        "mean(a: 1, b: 2)", "geomean(a, b) * min(1, a / 5)^2", "hmean(a, c)", "power(-2, a: 2, b: 1)",
        "a + 2 * b - 0.5 * c + 3",
        "rescale(mean(a, b), 100)", "100 - mean(a, b)", "sum(a: 1, b: 4)", "(a + 2 * b) / 3", "winrate(a, b)",
        "if(y == 1, mean(a: 1, b: 3), geomean(a, b))", "clamp(mean(a, max(b, 2)), 3, 6)",
        "mean(a, b) / colmax(mean(a, b))",
    ],
)  # fmt: skip
def test_page_and_reweight_weigh_the_same_columns_by_the_same_weights(text):
    cells = {"a": ["1", "4", "7"], "b": ["8", "2", "5"], "c": ["3", "6", "4"], "y": ["1", "1", "1"]}
    rule, table = parse_rule(text), Table.of_texts(cells)
    model, form = rank_model(rule, table), weighted_form(rule, table)
    assert (model.labels, model.exponent) == (form.labels, form.core.power)
    assert model.weights == pytest.approx(form.weights)
