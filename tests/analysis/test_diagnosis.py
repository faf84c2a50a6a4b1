"""A score table diagnosed: oracles of a real log, comparators worked by hand, periods and drift."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.analysis.diagnosis import DiagnosisSettings, diagnosis
from evenhand.errors import InvalidInput
from evenhand.stats.collapse import level_counts, spread_of
from evenhand.store.scores.columns import ScoreColumns
from evenhand.store.scores.tables import read_scores

CRITERIA = ("correctness", "completeness", "clarity", "depth", "usefulness")
ITEM = ("evaluation_id", "respondent")


def table_of(folder, header, rows, **columns):
    path = folder / "s.csv"
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return read_scores(path, ScoreColumns(**columns))


def judged(folder, scores, header="item,judge,score", **settings_):
    """Diagnose {judge: scores of items 0, 1, ...}."""
    rows = [(f"i{k}", judge, value) for judge, values in scores.items() for k, value in enumerate(values)]
    return diagnosis(table_of(folder, header, rows), DiagnosisSettings(scale=(1, 10), **settings_))


# --- the real log --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def peer_log(shared):
    folder = shared / "data" / "judgments" / "multivac_peer_log_w1"
    if not folder.is_dir():
        pytest.skip(f"needs the shared judgments: there is no {folder}")
    return folder


@pytest.fixture(scope="module")
def oracles(peer_log):
    return json.loads((peer_log / "oracles.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def peer_table(peer_log):
    return read_scores(peer_log / "log.csv", ScoreColumns(score=(*CRITERIA, "weighted_score"), item=ITEM))


@pytest.fixture(scope="module")
def valid(peer_table):
    """(n,) cells of rows without error whose five criteria are all 1 to 10, as the oracles count them."""
    values = peer_table.score.reshape(6, -1)[:5]
    rows = ((values >= 1) & (values <= 10)).all(axis=0)
    return peer_table.where(np.tile(rows, 6))


def figures(table):
    spread = spread_of(*level_counts(table.score))
    return {
        "n": spread.n, "mode": spread.mode, "mode_share": spread.mode_share.value, "top2_share": spread.top_two_share,
        "levels_used": spread.levels_used, "entropy_nats": spread.entropy,
        "effective_levels": spread.effective_levels, "mean": spread.mean, "sd": spread.sd,
    }  # fmt: skip


@pytest.mark.shared
def test_the_peer_log_has_its_published_counts(peer_log, oracles):
    found = diagnosis(
        read_scores(peer_log / "log.csv", ScoreColumns(score=CRITERIA, item=ITEM)), DiagnosisSettings(scale=(0, 10))
    )
    counts = found.group.counts
    assert counts["rows"] == oracles["rows"]
    assert counts["failed"] == oracles["errors"]["parse_error"] + oracles["errors"]["api_error"]
    assert counts["suspicious"] == oracles["all_zero_no_error"]
    assert counts["out_of_scale"] == oracles["out_of_range"]
    assert len(found.by_judge) == oracles["n_judges"]


@pytest.mark.shared
@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_peer_log_has_its_published_figures_by_criterion(valid, oracles, criterion):
    code = valid.criterion.names.index(criterion)
    assert figures(valid.where(valid.criterion.codes == code)) == pytest.approx(
        oracles["criteria"][criterion], abs=5e-7
    )


@pytest.mark.shared
def test_the_peer_log_has_its_published_figures_by_judge(valid, oracles):
    correctness = valid.where(valid.criterion.codes == 0)
    for judge, expected in oracles["per_judge"].items():
        found = figures(correctness.where(correctness.judge.codes == correctness.judge.names.index(judge)))
        assert {name: found[name] for name in ("n", "mode", "mode_share", "effective_levels")} == pytest.approx(
            {name: value for name, value in expected.items() if name != "mean_weighted"}, abs=5e-7
        ), judge


@pytest.mark.shared
def test_many_decimals_hide_what_rounding_shows(valid, oracles):
    found = diagnosis(valid.where(valid.criterion.codes == 5), DiagnosisSettings(scale=(0, 10)))
    raw, rounded = oracles["weighted_score"], oracles["weighted_score_rounded_int"]
    assert found.scale.decimals
    assert found.group.spread.mode_share.value == pytest.approx(raw["mode_share"], abs=5e-7)
    assert found.group.spread.levels_used == raw["levels_used"]
    assert found.group.rounded.mode_share.value == pytest.approx(rounded["mode_share"], abs=0.003)  # halves go up here
    assert found.group.rounded.levels_used == rounded["levels_used"]


@pytest.mark.shared
def test_the_collapsed_judges_of_the_peer_log_are_named(peer_log):
    table = read_scores(peer_log / "log.csv", ScoreColumns(score=("correctness",), item=ITEM))
    found = diagnosis(table, DiagnosisSettings(scale=(1, 10)))
    collapsed = {group.name for group in found.by_judge if group.verdict.verdict == "collapsed"}
    assert collapsed == {"gemini_2_5_flash_lite", "mistral_small_creative", "granite_40", "qwen3_coder_next"}
    assert found.by_judge[0].name == "gemini_2_5_flash_lite"
    assert found.group.verdict.verdict == "cannot_tell"  # pooled, nobody can be compared


# --- comparators ---------------------------------------------------------------------------------------------------

WIDE = [1, 3, 5, 7, 9, 2, 4, 6, 8, 10] * 3


def test_a_judge_that_gives_one_score_beside_one_that_does_not_has_collapsed(tmp_path):
    found = judged(tmp_path, {"flat": [7] * 30, "wide": WIDE})
    verdicts = {group.name: group.verdict.verdict for group in found.by_judge}
    assert verdicts == {"flat": "collapsed", "wide": "not_collapsed"}
    assert found.document()["by_judge"]["flat"]["comparators"][0]["beside_constant"] is True


def test_judges_that_are_all_flat_prove_nothing_against_each_other(tmp_path):
    found = judged(tmp_path, {f"j{level}": [level] * 30 for level in range(1, 9)})
    assert {group.verdict.verdict for group in found.by_judge} == {"cannot_tell"}


def test_ratios_are_those_of_the_items_in_common(tmp_path):
    found = judged(tmp_path, {"a": [7, 8] * 10, "b": [1, 9] * 10 + [5] * 40})
    (other,) = next(group for group in found.by_judge if group.name == "a").comparators
    assert (other.n_items, other.n_raters) == (20, 1)
    assert other.sd_ratio == pytest.approx(8)
    assert other.level_ratio == pytest.approx(1)


def test_fewer_than_ten_items_in_common_are_no_comparison(tmp_path):
    found = judged(tmp_path, {"a": [7] * 9, "b": WIDE})
    assert all(not group.comparators for group in found.by_judge)


def test_the_median_of_several_others_is_taken(tmp_path):
    found = judged(tmp_path, {"a": [7, 8] * 15, "b": [6, 8] * 15, "c": [1, 9] * 15, "d": [7, 8] * 15})
    (other,) = next(group for group in found.by_judge if group.name == "a").comparators
    assert (other.n_raters, other.sd_ratio) == (3, pytest.approx(2))


def test_humans_on_the_same_rows_are_a_comparator(tmp_path):
    rows = [(f"i{k}", 7 + k % 2, 1 + k % 5) for k in range(50)]
    found = diagnosis(table_of(tmp_path, "item,score,human", rows), DiagnosisSettings(scale=(1, 10)))
    assert found.group.verdict.verdict == "collapsed"
    (humans,) = found.group.comparators
    assert humans.level_ratio == pytest.approx(2.5)
    narrow, _ = np.std([7, 8] * 25, ddof=1), None
    assert humans.sd_ratio == pytest.approx(np.std([1, 2, 3, 4, 5] * 10, ddof=1) / narrow)
    other = diagnosis(
        table_of(tmp_path, "item,score,human", rows), DiagnosisSettings(scale=(1, 10), human_scale=(1, 5))
    )
    assert other.group.comparators[0].sd_ratio == pytest.approx(humans.sd_ratio * 9 / 4)


def test_humans_that_say_the_same_of_every_item_clear_nobody(tmp_path):
    rows = [(f"i{k}", 7, 4) for k in range(50)]
    found = diagnosis(table_of(tmp_path, "item,score,human", rows), DiagnosisSettings(scale=(1, 10)))
    assert found.group.verdict.verdict == "cannot_tell"


# --- counts --------------------------------------------------------------------------------------------------------


def test_all_zero_rows_are_left_out_unless_they_are_wanted(tmp_path):
    rows = [(0, 0)] * 5 + [(0, 3)] + [(4, 5)] * 10
    table = table_of(tmp_path, "a,b", rows, score=("a", "b"))
    found = diagnosis(table, DiagnosisSettings(scale=(0, 5)))
    assert (found.group.counts["suspicious"], found.group.spread.n) == (5, 22)
    kept = diagnosis(table, DiagnosisSettings(scale=(0, 5), keep_zeros=True))
    assert (kept.group.counts["suspicious"], kept.group.spread.n) == (5, 32)


def test_zeros_that_stand_alone_in_one_column_are_said_and_counted(tmp_path):
    found = diagnosis(table_of(tmp_path, "score", [(0,)] * 5 + [(8,), (9,), (10,)] * 10))
    assert (found.lonely_zeros, found.group.spread.n) == (5, 35)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.sampled_from(["7", "8", "12", "-1", "", "x", "nan", "inf", "3.5"]), min_size=5, max_size=60))
def test_every_row_is_in_the_figures_or_in_a_count(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("c") / "s.csv"
    path.write_text("item,score\n" + "\n".join(f"i{k},{text}" for k, text in enumerate(texts)) + "\n")
    try:
        counts = diagnosis(read_scores(path), DiagnosisSettings(scale=(1, 10)))
    except InvalidInput:
        return  # mostly text
    group = counts.group
    lost = sum(group.counts[name] for name in ("failed", "abstained", "missing", "text", "infinite", "out_of_scale"))
    assert group.spread.n + lost == group.counts["rows"] == len(texts)


# --- time ----------------------------------------------------------------------------------------------------------


def timed(folder, days, scores, **settings_):
    rows = [(f"2026-01-{day:02}T00:00:00", score) for day, score in zip(days, scores, strict=True)]
    return diagnosis(table_of(folder, "time,score", rows), DiagnosisSettings(scale=(1, 10), **settings_))


def test_changes_are_looked_for_in_the_order_of_time_and_named_by_row(tmp_path):
    days = [2] * 40 + [1] * 40  # the later half stands first in the file
    found = timed(tmp_path, days, [9, 10] * 20 + [1, 2] * 20)
    (change,) = found.series.changes
    assert (change.after_row, change.after_line, change.at) == (79, 81, "2026-01-02T00:00:00")
    assert [segment.spread.mean for segment in found.series.segments] == [1.5, 9.5]


def test_periods_are_calendar_weeks_that_begin_on_monday(tmp_path):
    found = timed(tmp_path, [4, 5, 11, 12], [1, 2, 3, 4], period="week")
    assert [(group.name, group.spread.n) for group in found.by_period] == [
        ("2025-12-29", 1), ("2026-01-05", 2), ("2026-01-12", 1),
    ]  # fmt: skip


def test_the_finest_unit_with_at_most_twelve_periods_is_taken(tmp_path):
    assert timed(tmp_path, range(1, 13), [5] * 12).period_unit == "hour"
    assert timed(tmp_path, range(1, 26), [5] * 25).period_unit == "week"
    assert timed(tmp_path, [1] * 5, [5] * 5).period_unit is None


def test_rows_in_equal_parts_are_periods_too(tmp_path):
    found = diagnosis(table_of(tmp_path, "score", [(k % 5 + 1,) for k in range(10)]), DiagnosisSettings(period="2"))
    assert [(group.name, group.spread.n) for group in found.by_period] == [("part 1 of 2", 5), ("part 2 of 2", 5)]


@pytest.mark.parametrize(("period", "message"), [("day", "has no times"), ("fortnight", "expected hour, day")])
def test_periods_that_cannot_be_are_refused(tmp_path, period, message):
    with pytest.raises(InvalidInput, match=message):
        diagnosis(table_of(tmp_path, "score", [(1,), (2,)]), DiagnosisSettings(period=period))


def test_a_file_sorted_by_score_has_no_order_of_time(tmp_path):
    found = diagnosis(table_of(tmp_path, "score", [(k // 20 + 1,) for k in range(100)]))
    assert found.series.sorted_by_score
    assert found.series.changes == ()


def test_a_judge_that_changes_is_found_where_the_pool_hides_it(tmp_path):
    rows = [(f"{judge}", (9 if (k < 60) == (judge == "a") else 2) + k % 2) for k in range(120) for judge in "ab"]
    found = diagnosis(table_of(tmp_path, "judge,score", rows), DiagnosisSettings(scale=(1, 10)))
    assert found.series.changes == ()
    assert [len(one.changes) for one in found.judge_series.values()] == [1, 1]


def test_the_document_is_plain_json_and_the_same_each_time(tmp_path):
    scores = {"flat": [7] * 30, "wide": WIDE}
    found = json.dumps(judged(tmp_path, scores, period="3").document(), allow_nan=False)
    assert found == json.dumps(judged(tmp_path, scores, period="3").document(), allow_nan=False)
