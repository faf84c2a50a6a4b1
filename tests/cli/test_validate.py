"""`evenhand validate` as it is typed: what users have reported elsewhere, published figures, and bad input."""

import csv
import json
import os
from collections import defaultdict

import numpy as np
import pytest
from scipy.stats import spearmanr

FIGURES = (
    "spearman", "kendall_tau_b", "ceiling", "alpha", "weighted_kappa", "mode_share", "rerun_sd", "leniency",
)  # fmt: skip


@pytest.fixture
def desk(tmp_path, evenhand):
    """Writes a table of scores and one of grades, and validates the one against the other."""

    def write(name, header, rows):
        with (tmp_path / name).open("w", newline="") as stream:
            csv.writer(stream).writerows([header, *[["" if cell is None else cell for cell in row] for row in rows]])

    def run(scores, grades, *options, ok=True):
        """Scores: a list, or rows of reruns; grades: a list, or rows of raters; None is missing."""
        reruns = [one if isinstance(one, list) else [one] for one in scores]
        write("s.csv", ["item", "rerun", "score"],
              [[f"i{k}", r, score] for k, row in enumerate(reruns) for r, score in enumerate(row)])  # fmt: skip
        raters = [one if isinstance(one, list) else [one] for one in grades]
        write("g.csv", ["item", *[f"r{r}" for r in range(len(raters[0]))]],
              [[f"i{k}", *row] for k, row in enumerate(raters)])  # fmt: skip
        done = evenhand("validate", "s.csv", "--grades", "g.csv", "--json", "--resamples", 199, *options)
        if not ok:
            return done
        assert done.code == 0, done.err
        check_document(done.document)
        return done.document

    run.write = write
    return run


def check_document(document):
    """The keys that others rely on; undefined is said, and never a 0 or NaN."""
    for name in FIGURES:
        figure = document[name]
        assert {"value", "low", "high", "n", "undefined"} <= figure.keys(), name
        assert (figure["value"] is None) == (figure["undefined"] is not None), name
        if figure["value"] is None:
            assert figure["low"] is figure["high"] is None
    assert {"n_items", "n_raters", "reruns", "counts"} <= document.keys()
    assert "judge_on_same_targets" in document["ceiling"]


# --- reported elsewhere --------------------------------------------------------------------------------------------


def test_a_perfect_inverse_on_two_levels_is_minus_1(desk):
    found = desk([6, 9, 9, 9, 9, 9, 9], [5, 2, 2, 2, 2, 2, 2])
    assert found["spearman"]["value"] == -1.0
    assert "leave it undefined" in found["spearman"]["no_interval"]


@pytest.mark.parametrize("n", [2, 7, 40])
def test_a_constant_judge_is_undefined_and_said_to_be(desk, n):
    found = desk([7] * n, [1 + k % 5 for k in range(n)])
    for name in ("spearman", "kendall_tau_b"):
        assert found[name]["undefined"] == "the judge gave one value"
    assert found["mode_share"]["value"] == 1.0


def test_constant_humans_are_undefined_too(desk):
    found = desk([1, 2, 3, 4], [3, 3, 3, 3], "--scale", "1:5")
    assert found["spearman"]["undefined"] == "the humans gave one value"
    assert found["alpha"]["undefined"].startswith("1 rater")


def test_a_missing_grade_is_no_category(desk):
    rows = [[1, 1, None], [1, 1, 1], [2, None, 2], [3, 3, None], [None, 2, 2]]
    found = desk([1, 1, 2, 3, 2], rows, "--scale", "1:3")
    assert found["alpha"]["value"] == 1.0
    assert (found["counts"]["grades"], found["counts"]["grades_missing"]) == (11, 4)
    assert found["icc"]["ICC(A,1)"]["undefined"] is not None


def test_full_agreement_over_several_grades_is_1_with_an_interval_that_is_degenerate(desk):
    found = desk([1, 2, 3, 5], [[1, 1], [2, 2], [3, 3], [5, 5]], "--scale", "1:5")
    assert found["alpha"]["value"] == 1.0
    assert found["alpha"]["low"] is None
    assert "degenerate" in found["alpha"]["no_interval"]
    only = desk([1, 2, 3, 5], [[4, 4], [4, 4], [4, 4], [4, 4]], "--scale", "1:5")
    assert only["alpha"]["undefined"] == "all grades are equal"


def test_unequal_numbers_of_raters_break_fleiss_and_not_alpha(desk):
    raters = [[1, 2, 3, 3, 2, None, 1, None], [1, 2, 3, 2, 2, 1, None, 3], [None, 2, 3, 3, None, 1, 1, 3]]
    found = desk([1, 2, 3, 3, 2, 1, 1, 3], [list(row) for row in zip(*raters, strict=True)], "--scale", "1:3")
    assert found["alpha"]["value"] == pytest.approx(0.921053, abs=1e-6)
    assert found["alpha"]["n"] == 8
    assert found["counts"]["grades"] == 19
    assert "Fleiss" in found["fleiss_kappa"]["undefined"]


def test_the_paradox_of_kappa_stands_beside_agreement_and_baseline(desk):
    found = desk([1] * 48 + [0] * 2, [1] * 46 + [0] * 2 + [1] * 2)
    assert found["weighted_kappa"]["value"] == pytest.approx(-0.041667, abs=1e-6)
    assert found["agreement"]["value"] == 0.92
    assert found["baselines"]["majority"]["agreement"]["value"] == 0.96
    assert found["passing"]["tpr"]["value"] == pytest.approx(0.958333, abs=1e-6)
    assert (found["passing"]["tnr"]["value"], found["passing"]["tnr"]["n"]) == (0.0, 2)
    assert found["kappa_paradox"].startswith("kappa's paradox")
    assert any("paradox" in sentence for sentence in found["sentences"])


def test_raters_with_an_offset_are_told_as_leniency(desk):
    rows = [[2, 4, 5], [5, 7, 7], [3, 5, 5], [6, 8, 8], [4, 6, 7], [7, 9, 9], [1, 3, 3], [5, 7, 7]]
    found = desk([2, 5, 3, 6, 4, 7, 1, 5], rows, "--scale", "1:10")
    published = {
        "ICC(1,1)": 0.682704, "ICC(A,1)": 0.711809, "ICC(C,1)": 0.982063, "ICC(1,k)": 0.86586, "ICC(A,k)": 0.881091,
        "ICC(C,k)": 0.993949,
    }  # fmt: skip
    assert {label: one["value"] for label, one in found["icc"].items()} == pytest.approx(published, abs=1e-6)
    assert list(found["rater_means"].values()) == [4.125, 6.125, 6.375]


def test_cannot_decide_is_out_of_scale_and_never_averaged(desk):
    first, second = [4, 0, 3, 1, 2, 0, 4, 1, 3, 2, 0, 4], [4, 3, 3, 1, 0, 0, 3, 2, 3, 2, 1, 4]
    judge = [4, 3, 3, 1, 2, 1, 4, 2, 4, 2, 1, 3]
    found = desk(judge, [list(row) for row in zip(first, second, strict=True)], "--scale", "1:4")
    assert found["spearman"]["value"] == pytest.approx(0.885805, abs=1e-6)
    assert found["n_items"] == 11
    assert found["counts"]["grades_out_of_scale"] == 5
    assert found["counts"]["named"]["grades_out_of_scale"][0]["where"] == "g.csv line 3"
    assert found["counts"]["named"]["judged_not_graded"] == ["i5"]
    assert any("keeps its other grades" in sentence for sentence in found["sentences"])


def test_raters_in_rows_are_read_so_and_the_reading_is_echoed(desk, evenhand, tmp_path):
    (tmp_path / "g.csv").write_text("rater,a,b,c,d\nr1,3,4,2,5\nr2,3,5,2,4\nr3,2,4,2,5\n")
    desk.write("s.csv", ["item", "score"], [["a", 3], ["b", 4], ["c", 2], ["d", 5]])
    done = evenhand("validate", "s.csv", "--grades", "g.csv", "--json")
    assert done.document["alpha"]["value"] == pytest.approx(0.814607, abs=1e-6)
    assert done.document["grades"]["reading"] == "raters in rows: 4 items, 3 raters"
    (tmp_path / "g.csv").write_text("x,a,b,c,d\nr1,3,4,2,5\n")
    refused = evenhand("validate", "s.csv", "--grades", "g.csv")
    assert refused.code == 2
    assert "no column 'item'" in refused.err


TURNED = [("item", "its columns (such as 'a') are the items that 's' scored"), ("", "no column 'item'"),
          ("rater", None)]  # fmt: skip


@pytest.mark.parametrize(("head", "sentence"), TURNED)
def test_a_turned_table_is_read_only_where_it_says_so(desk, evenhand, tmp_path, head, sentence):
    (tmp_path / "g.csv").write_text(f"{head},a,b,c,d\nr1,3,4,2,5\nr2,3,5,2,4\nr3,2,4,2,5\n")
    desk.write("s.csv", ["item", "score"], [["a", 3], ["b", 4], ["c", 2], ["d", 5]])
    done = evenhand("validate", "s.csv", "--grades", "g.csv", "--json", "--resamples", 99)
    if sentence is None:
        assert done.document["alpha"]["value"] == pytest.approx(0.814607, abs=1e-6)
    else:
        assert (done.code, sentence in done.err) == (2, True), done.err


def test_row_numbers_beside_the_grades_change_no_coefficient(desk, evenhand, tmp_path):
    (tmp_path / "g.csv").write_text(",item,r1,r2,r3\n0,a,3,3,2\n1,b,4,5,4\n2,c,2,2,2\n3,d,5,4,5\n")
    desk.write("s.csv", ["item", "score"], [["a", 3], ["b", 4], ["c", 2], ["d", 5]])
    found = evenhand("validate", "s.csv", "--grades", "g.csv", "--json", "--resamples", 99).document
    assert (found["n_raters"], found["grades"]["raters"]) == (3, ["r1", "r2", "r3"])
    assert found["alpha"]["value"] == pytest.approx(0.814607, abs=1e-6)


@pytest.mark.parametrize("code", [-1, 9, 99])
@pytest.mark.parametrize("form", ["wide", "long"])
def test_any_code_for_cannot_decide_is_out_of_scale_in_either_form(desk, evenhand, code, form):
    first, second = [4, 0, 3, 1, 2, 0, 4, 1, 3, 2, 0, 4], [4, 3, 3, 1, 0, 0, 3, 2, 3, 2, 1, 4]
    cells = [(f"i{k}", code if one == 0 else one, code if other == 0 else other)
             for k, (one, other) in enumerate(zip(first, second, strict=True))]  # fmt: skip
    desk.write("s.csv", ["item", "score"], [[f"i{k}", v] for k, v in enumerate([4, 3, 3, 1, 2, 1, 4, 2, 4, 2, 1, 3])])
    if form == "wide":
        desk.write("g.csv", ["item", "r0", "r1"], cells)
    else:
        long = [[name, who, v] for name, *both in cells for who, v in zip(("r0", "r1"), both, strict=True)]
        desk.write("g.csv", ["item", "rater", "grade"], long)
    asked = ("validate", "s.csv", "--grades", "g.csv", "--scale", "1:4", "--json", "--resamples", 99)
    found = evenhand(*asked).document
    assert (found["n_items"], found["counts"]["grades_out_of_scale"]) == (11, 5)
    assert found["spearman"]["value"] == pytest.approx(0.885805, abs=1e-6)


def test_a_rater_who_never_decides_is_no_rater(desk):
    judge, first = [4, 3, 3, 1, 2, 1, 4, 2, 4, 2, 1, 3], [4, 0, 3, 1, 2, 0, 4, 1, 3, 2, 0, 4]
    found = desk(judge, [[grade, 0] for grade in first], "--scale", "1:4")
    assert (found["n_items"], found["n_raters"], found["counts"]["grades_out_of_scale"]) == (9, 1, 15)
    assert found["alpha"]["value"] is found["ceiling"]["value"] is None


def test_the_judges_own_cannot_decide_is_counted_and_never_averaged(desk):
    grades = [[4, 4], [3, 3], [3, 3], [1, 1], [2, 2], [4, 3]]
    found = desk([[4, 0], [3, 3], [0, 0], [1, 1], [2, 2], [4, 4]], grades, "--scale", "1:4")
    assert (found["counts"]["scores_out_of_scale"], found["n_items"]) == (3, 5)
    assert found["leniency"]["value"] == pytest.approx(0.1)  # (0 + 0 + 0 + 0 + .5) / 5: the 4 beside a 0 stays a 4


def test_a_judge_with_an_offset_orders_as_the_humans_do_and_is_lenient(desk):
    humans = [2, 5, 3, 6, 4, 7, 1, 5]
    found = desk([grade + 2 for grade in humans], humans, "--scale", "1:10")
    assert (found["spearman"]["value"], found["leniency"]["value"]) == (1.0, 2.0)
    assert found["weighted_kappa"]["value"] == pytest.approx(0.64, abs=0.005)  # 1 - 4 / (2 * 3.609375 + 4)


def test_an_offset_with_a_grade_missing_leaves_alpha_and_says_why_no_form_by_rater(desk):
    rows = [[2, 4, 5], [5, 7, 7], [3, 5, 5], [6, None, 8], [4, 6, 7], [7, 9, 9], [1, 3, 3], [5, 7, 7]]
    found = desk([2, 5, 3, 6, 4, 7, 1, 5], rows, "--scale", "1:10")
    assert {label for label, one in found["icc"].items() if one["value"] is not None} == {"ICC(1,1)"}
    assert "1 of 8 items lacks a grade" in found["icc"]["ICC(A,1)"]["undefined"]
    assert found["rater_means"]["r1"] == pytest.approx(41 / 7)


def test_grades_in_half_points_have_the_same_correlations_as_in_whole_ones(desk):
    rows = [[2, 4, 5], [5, 7, 7], [3, 5, 5], [6, 8, 8], [4, 6, 7], [7, 9, 9], [1, 3, 3], [5, 7, 7]]
    found = desk([1, 2.5, 1.5, 3, 2, 3.5, 0.5, 2.5], [[v / 2 for v in row] for row in rows], "--scale", "0:5")
    assert found["icc"]["ICC(A,1)"]["value"] == pytest.approx(0.711809, abs=1e-6)
    assert found["icc"]["ICC(C,1)"]["value"] == pytest.approx(0.982063, abs=1e-6)


# --- published figures ---------------------------------------------------------------------------------------------


@pytest.mark.shared
def test_stories_give_the_published_rank_agreement_and_level(shared, evenhand):
    folder = shared / "data/judgments/hanna_stories"
    oracles = json.loads((folder / "oracles.json").read_text())
    names = ["Beluga-13B_p2_RE", "ChatGPT_p1_CH", "Llama-13B_p4_SU"]
    for name in names:
        criterion, oracle = name[-2:], oracles["judge_vs_human_mean"][name]
        raters = [part for k in (1, 2, 3) for part in ("--rater", f"human{k}_{criterion}")]
        done = evenhand(
            "validate", folder / "scores.csv", "--grades", folder / "scores.csv", *raters, "--item", "story_id",
            "--score", name, "--resamples", 99, "--json", "--length", "text_length",
        )  # fmt: skip
        found = done.document
        check_document(found)
        assert found["spearman"]["value"] == pytest.approx(oracle["rho"], abs=1e-6)
        assert found["kendall_tau_b"]["value"] == pytest.approx(oracle["tau_b"], abs=1e-6)
        assert found["leniency"]["value"] == pytest.approx(oracle["bias"], abs=1e-6)
        assert found["mode_share"]["value"] == pytest.approx(oracle["mode_share"], abs=1e-6)
        humans = oracles["humans"][criterion]
        assert found["alpha"]["value"] == pytest.approx(humans["alpha_ordinal"], abs=1e-6)
        assert found["ceiling"]["value"] == pytest.approx(humans["ceiling_loo_rho_mean"], abs=1e-6)
        if criterion == "CH":  # raters who agree less than by chance bound nothing, and divide nothing
            assert found["ceiling"]["bound"]["undefined"] is not None
            assert found["attenuation"]["corrected"]["undefined"] is not None


@pytest.mark.shared
def test_scores_below_the_scale_are_counted_and_left_out(shared, evenhand):
    folder = shared / "data/judgments/hanna_stories"
    oracle = json.loads((folder / "oracles.json").read_text())["judge_vs_human_mean"]["Beluga-13B_p2_RE"]
    done = evenhand(
        "validate", folder / "scores.csv", "--grades", folder / "scores.csv", "--rater", "human1_RE", "--item",
        "story_id", "--score", "Beluga-13B_p2_RE", "--scale", "1:5", "--resamples", 99, "--json",
    )  # fmt: skip
    assert done.document["counts"]["scores_out_of_scale"] == oracle["n_below_1"] == 9
    assert done.document["n_items"] == 1056 - 9


@pytest.mark.shared
def test_relevance_runs_give_the_published_agreement_and_the_wider_interval_of_clusters(shared, evenhand):
    folder = shared / "data/judgments/llmjudge_trec_dl23"
    oracles = json.loads((folder / "oracles.json").read_text())["runs"]
    names = ["willia-umbrela1", "TREMA-nuggets"]
    done = evenhand(
        "validate", folder / "labels.csv", "--grades", folder / "labels.csv", "--rater", "human", "--item", "qid",
        "--item", "docid", "--scale", "0:3", "--cluster", "qid", "--seed", 7, "--resamples", 999, "--json",
        *[part for name in names for part in ("--score", name)],
    )  # fmt: skip
    by_name = {one["judge"]: one for one in done.document["judges"]}
    for name in names:
        found, oracle = by_name[name], oracles[name]
        assert found["spearman"]["value"] == pytest.approx(oracle["rho"], abs=1e-6)
        assert found["kendall_tau_b"]["value"] == pytest.approx(oracle["tau_b"], abs=1e-6)
        assert found["weighted_kappa"]["value"] == pytest.approx(oracle["qwk"], abs=1e-6)
        assert found["kappa"]["value"] == pytest.approx(oracle["kappa"], abs=1e-6)
        assert found["leniency"]["value"] == pytest.approx(oracle["bias"], abs=1e-6)
        assert found["mode_share"]["value"] == pytest.approx(oracle["mode_share"], abs=1e-6)
        assert found["ceiling"]["undefined"] is not None  # one rater
    rho = by_name["willia-umbrela1"]["spearman"]
    assert (rho["low"], rho["high"]) == pytest.approx((0.373, 0.625), abs=0.02)
    assert "25 clusters" in rho["interval"]["method"]
    assert rho["bonett_wright"] == pytest.approx((0.373, 0.625), abs=0.03)  # of 164 items; of 4,423 it is [0.48, 0.53]
    detectable = by_name["willia-umbrela1"]["detectable"]
    assert (detectable["rho_worth"]["n"], detectable["rho_worth"]["n_clusters"]) == (4423, 25)
    assert detectable["rho_worth"]["items"] == pytest.approx(163.62, abs=0.01)
    assert detectable["rho"] == pytest.approx(0.2169, abs=1e-3)  # 4,423 independent items would show 0.042


@pytest.mark.shared
def test_essays_show_that_little_noise_is_no_validity(shared, evenhand, tmp_path):
    folder = shared / "data/judgments/evalessay_reruns"
    oracles = json.loads((folder / "oracles.json").read_text())["batches"]
    expected, texts = {}, defaultdict(list)
    with (folder / "runs.csv").open() as stream:
        for row in csv.DictReader(stream):
            expected[row["essay"]] = row["expected"]
            if row["batch"] in ("06i004/gpt-oss_120b", "06i004/qwen3-coder_30b"):
                texts[row["batch"]].append((row["essay"], row["run"], row["score"]))
    (tmp_path / "g.csv").write_text(
        "item,expert\n" + "".join(f"{essay},{grade}\n" for essay, grade in expected.items())
    )
    found = {}
    for batch, rows in texts.items():
        with (tmp_path / "s.csv").open("w", newline="") as stream:
            csv.writer(stream).writerows([["item", "run", "score"], *rows])
        done = evenhand("validate", "s.csv", "--grades", "g.csv", "--scale", "0:100", "--resamples", 99, "--json")
        found[batch] = done.document
        assert done.document["spearman"]["value"] == pytest.approx(oracles[batch]["rho_mean_vs_expected"], abs=1e-6)
        assert done.document["rerun_sd"]["value"] == pytest.approx(oracles[batch]["rerun_sd_pooled"], abs=1e-6)
        assert done.document["leniency"]["value"] == pytest.approx(oracles[batch]["bias"], abs=1e-6)
        assert done.document["rerun_noise"]["icc"]["value"] == pytest.approx(
            oracles[batch]["icc1_single_run"], abs=1e-6
        )
        assert done.document["counts"]["graded_not_judged"] == 9
    noisy, quiet = found["06i004/gpt-oss_120b"], found["06i004/qwen3-coder_30b"]
    assert quiet["rerun_sd"]["value"] < noisy["rerun_sd"]["value"]
    assert quiet["spearman"]["value"] < noisy["spearman"]["value"]


@pytest.mark.shared
@pytest.mark.parametrize("question", ["Q0", "Q2", "Q7"])
def test_dialogues_where_0_is_not_answered_give_the_published_null_results(shared, evenhand, tmp_path, question):
    folder = shared / "data/judgments/llm_rubric_dialogues"
    oracle = json.loads((folder / "oracles.json").read_text())["synth"][question]
    with (folder / "synth_human.csv").open() as stream:
        rows = [[r["text_id"], r["annotator_id"], r[question]] for r in csv.DictReader(stream)]
    seen, kept = defaultdict(int), []
    for item, rater, grade in rows:  # some annotators rated a dialogue twice: the second is another opinion
        seen[item, rater] += 1
        kept.append([item, rater if seen[item, rater] == 1 else f"{rater} again", grade])
    with (tmp_path / "g.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["item", "rater", "grade"], *kept])
    done = evenhand(
        "validate", folder / "synth_gpt35.csv", "--grades", "g.csv", "--item", "text_id", "--score", "sample_llm",
        "--criterion", question, "--scale", "1:4", "--resamples", 99, "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = done.document
    assert found["counts"]["grades_out_of_scale"] == oracle["n_human_zero"]
    assert found["n_items"] == oracle["n_matched"]
    assert found["spearman"]["value"] == pytest.approx(oracle["rho_sample"], abs=1e-6)
    assert found["alpha"]["value"] < 0.2  # these raters hardly agree, and that is said
    assert any("agree too little" in sentence for sentence in found["sentences"])


# --- bad input -----------------------------------------------------------------------------------------------------


def test_one_item_leaves_the_figures_undefined(desk):
    found = desk([3], [[3, 4]], "--scale", "1:5")
    assert found["spearman"]["undefined"] == "1 item"
    assert found["n_items"] == 1


def test_one_rater_has_no_ceiling(desk):
    found = desk([1, 2, 3, 4, 5], [1, 2, 3, 5, 4], "--scale", "1:5")
    assert found["ceiling"]["value"] is None
    assert found["alpha"]["undefined"] == "1 rater: there is nobody to agree with"


def test_items_with_one_side_only_are_counted_named_and_refused_if_strict(desk, evenhand, tmp_path):
    desk.write("s.csv", ["item", "score"], [["a", 1], ["b", 2], ["c", 3], ["x", 4]])
    desk.write("g.csv", ["item", "r"], [["a", 1], ["b", 3], ["c", 3], ["y", 4]])
    done = evenhand("validate", "s.csv", "--grades", "g.csv", "--scale", "1:5", "--json")
    counts = done.document["counts"]
    assert (counts["graded_not_judged"], counts["judged_not_graded"]) == (1, 1)
    assert counts["named"]["graded_not_judged"] == ["y"]
    assert counts["named"]["judged_not_graded"] == ["x"]
    strict = evenhand("validate", "s.csv", "--grades", "g.csv", "--strict")
    assert strict.code == 2
    assert "1 graded item without a score: y" in strict.err
    assert strict.out == ""


def test_a_scale_that_the_scores_leave_is_not_theirs(desk):
    done = desk([7, 8, 7, 9], [3, 4, 3, 5], "--scale", "1:5", ok=False)
    assert done.code == 2
    assert "4 of 4 scores" in done.err
    assert "--score-scale" in done.err


def test_scores_and_grades_on_different_scales_are_never_rescaled_by_guess(desk):
    found = desk([7, 8, 7, 9, 2], [3, 4, 3, 5, 1])
    assert found["leniency"]["undefined"].startswith("the scales may differ")
    assert found["weighted_kappa"]["value"] is None
    stated = desk([7, 8, 7, 9, 2], [3, 4, 3, 5, 1], "--scale", "1:5", "--score-scale", "1:10")
    moved = [1 + (score - 1) * 4 / 9 for score in (7, 8, 7, 9, 2)]
    assert stated["leniency"]["value"] == pytest.approx(np.mean(moved) - 3.2)
    assert "different scales" in stated["weighted_kappa"]["undefined"]


def test_text_for_a_grade_is_refused_and_text_for_a_score_counted(desk, evenhand):
    desk.write("s.csv", ["item", "score"], [["a", 1], ["b", "two"], ["c", 3], ["d", 4]])
    desk.write("g.csv", ["item", "r"], [["a", 1], ["b", 2], ["c", 3], ["d", 4]])
    done = evenhand("validate", "s.csv", "--grades", "g.csv", "--scale", "1:5", "--json")
    assert done.code == 0
    assert "text where a number was expected" in done.err
    assert (done.document["counts"]["missing"], done.document["n_items"]) == (1, 3)
    desk.write("g.csv", ["item", "r"], [["a", 1], ["b", "good"], ["c", 3], ["d", 4]])
    refused = evenhand("validate", "s.csv", "--grades", "g.csv")
    assert refused.code == 2
    assert "g.csv line 3: column 'r' holds 'good'" in refused.err


def test_one_percent_nan_is_missing(desk):
    rng = np.random.default_rng(3)
    grades = rng.integers(1, 6, (200, 2)).astype(object)
    scores = rng.integers(1, 6, 200).astype(object)
    grades[::100, 0], scores[::100] = "NaN", "NaN"
    found = desk(scores.tolist(), grades.tolist(), "--scale", "1:5")
    assert found["counts"]["grades_missing"] == 2
    assert found["counts"]["missing"] == 2
    assert found["n_items"] == 198


def test_reruns_need_a_column_and_duplicates_are_named(desk, evenhand):
    desk.write("s.csv", ["item", "score"], [["a", 1], ["a", 2], ["b", 3]])
    desk.write("g.csv", ["item", "r"], [["a", 1], ["b", 2]])
    done = evenhand("validate", "s.csv", "--grades", "g.csv")
    assert done.code == 2
    assert "--rerun" in done.err


def test_nothing_in_common_says_what_both_have(desk, evenhand):
    desk.write("s.csv", ["item", "score"], [["a", 1], ["b", 2]])
    desk.write("g.csv", ["item", "r"], [["x", 1], ["y", 2]])
    done = evenhand("validate", "s.csv", "--grades", "g.csv")
    assert done.code == 2
    assert "none of its 2 items (such as 'x') has a score" in done.err


@pytest.mark.parametrize(
    "options",
    [
        ("--scale", "5:1"), ("--scale", "low:high"), ("--only", "nobody"), ("--cluster", "query"),
        ("--item", "nr"), ("-o", "page.pdf"), ("--criterion", "tone"),
    ],
)  # fmt: skip
def test_a_wrong_option_is_one_sentence(desk, options):
    done = desk([1, 2, 3], [1, 2, 3], *options, ok=False)
    assert done.code == 2
    assert done.err.count("error:") == 1
    assert done.out == ""


def test_names_from_files_reach_no_terminal_unescaped(desk, evenhand):
    desk.write("s.csv", ["item", "score"], [[f"a\x1b[31m{k}", 1 + k % 5] for k in range(9)])
    desk.write("g.csv", ["item", "r\x1b]0;x"], [[f"a\x1b[31m{k}", 5 - k % 5] for k in range(9)])
    for options in ((), ("--json",)):
        done = evenhand("validate", "s.csv", "--grades", "g.csv", "--scale", "1:5", *options)
        assert done.code == 0
        assert "\x1b" not in done.out + done.err


# --- what people read ----------------------------------------------------------------------------------------------


def test_the_page_of_a_terminal_has_every_figure_with_its_n(desk, evenhand):
    rng = np.random.default_rng(1)
    quality = rng.normal(3, 1, 60)
    scores = [[float(np.clip(round(q + rng.normal(0, 0.6)), 1, 5)) for _ in range(3)] for q in quality]
    grades = [[float(np.clip(round(q + rng.normal(0, 0.6)), 1, 5)) for _ in range(2)] for q in quality]
    desk(scores, grades, "--scale", "1:5")
    done = evenhand("validate", "s.csv", "--grades", "g.csv", "--scale", "1:5", "--resamples", 199)
    assert done.code == 0
    for word in (
        "Spearman rho",
        "human ceiling",
        "alpha",
        "kappa",
        "mode share",
        "rerun SD",
        "leniency",
        "worst misses",
    ):
        assert word in done.out
    assert "n 60" in done.out
    means = [np.mean(row) for row in scores], [np.mean(row) for row in grades]
    document = evenhand("validate", "s.csv", "--grades", "g.csv", "--scale", "1:5", "--json").document
    assert document["spearman"]["value"] == pytest.approx(spearmanr(*means).statistic, abs=1e-12)
    assert document["reruns"] == 3
    assert document["n_raters"] == 2


def test_the_larger_run_is_corrected(desk, evenhand):
    scores = [1] * 56 + [0] * 7 + [1] * 8 + [0] * 29
    grades = [1] * 63 + [0] * 37
    desk.write("u.csv", ["item", "score"], [[f"u{k}", int(k < 704)] for k in range(1000)])
    found = desk(scores, grades, "--unlabelled", "u.csv")["passing"]
    assert found["corrected_rate"]["value"] == pytest.approx(0.6732538, abs=1e-6)
    assert found["rogan_gladen"]["value"] == pytest.approx(0.7251429, abs=1e-6)
    assert found["naive_rate"]["value"] == 0.704


@pytest.mark.shared
def test_grades_alone_give_the_published_ceiling_of_experts(shared, evenhand, tmp_path):
    folder = shared / "data/judgments/summeval_coherence_experts"
    oracle = json.loads((folder / "oracles.json").read_text())["humans"]
    raters = [part for k in range(3) for part in ("--rater", f"expert_{k}")]
    options = ("--item", "doc", "--item", "system", *raters, "--scale", "1:5", "--resamples", 199)
    done = evenhand("validate", "--grades", folder / "ratings.csv", *options, "--cluster", "doc", "--json")
    assert done.code == 0, done.err
    found = done.document
    assert (found["n_items"], found["n_raters"]) == (1600, 3)
    assert found["alpha"]["value"] == pytest.approx(oracle["alpha_ordinal"], abs=1e-6)
    assert found["ceiling"]["value"] == pytest.approx(oracle["ceiling_loo_rho_mean"], abs=1e-6)
    humans = [one["human"]["value"] for one in found["ceiling"]["raters"]]
    assert humans == pytest.approx(oracle["leave_one_out_rho"], abs=1e-6)
    assert found["ceiling"]["bound"]["value"] == pytest.approx(0.922443, abs=1e-6)
    assert found["icc"]["ICC(A,1)"]["value"] == pytest.approx(0.57272, abs=1e-5)
    assert "100 clusters" in found["ceiling"]["interval"]["method"]
    assert any("100 sources would show a judge's rho of 0.28" in sentence for sentence in found["sentences"])
    assert any("Some are kinder" in sentence for sentence in found["sentences"])
    page = evenhand("validate", "--grades", folder / "ratings.csv", *options, "-o", tmp_path / "r.html")
    assert "bound for any judge  0.92" in page.out
    assert "How well do the raters agree?" in (tmp_path / "r.html").read_text()


def test_grades_of_one_rater_alone_have_no_ceiling(desk, evenhand):
    desk([1, 2, 3], [1, 2, 3])
    done = evenhand("validate", "--grades", "g.csv", "--scale", "1:5", "--json")
    assert done.document["ceiling"]["undefined"] == "1 rater: there is nobody to agree with"
    assert "nobody to agree with" in done.document["sentences"][1]
    refused = evenhand("validate", "--grades", "g.csv", "--unlabelled", "s.csv")
    assert refused.code == 2
    assert refused.err.startswith("error: --unlabelled: without RECORDS there are no scores")


def test_pass_rates_under_clusters_are_said_to_be_too_sure(desk, evenhand):
    desk([1, 1, 0, 0, 1, 0] * 4, [1, 0, 0, 0, 1, 1] * 4)
    desk.write("c.csv", ["item", "r", "source"], [[f"i{k}", (1, 0, 0, 0, 1, 1)[k % 6], f"q{k % 6}"] for k in range(24)])
    options = ("--rater", "r", "--resamples", 199)
    done = evenhand("validate", "s.csv", "--grades", "c.csv", "--cluster", "source", *options)
    assert done.code == 0, done.err
    assert "--cluster does not widen them" in done.out
    assert "independent" not in evenhand("validate", "s.csv", "--grades", "c.csv", *options).out


def test_a_page_of_a_terminal_is_eighty_columns_wide_and_reasons_stand_below_their_figures(desk, evenhand):
    desk([3, 4, 5, 2, 1, 3, 4, 4], [1, 2, 3, 1, 1, 2, 3, 2])
    done = evenhand("validate", "s.csv", "--grades", "g.csv", "--scale", "1:3", "--score-scale", "1:5")
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    at = next(k for k, line in enumerate(lines) if line.startswith("human ceiling"))
    assert lines[at + 1] == "    1 rater: there is nobody to agree with"
    assert "compared 8 items with both, 1 rater, one score an item" in lines


def test_a_table_without_an_item_column_is_told_which_columns_it_has(desk, evenhand):
    desk([1, 2, 3], [1, 2, 3])
    desk.write("s.csv", ["answer_no", "score"], [["a", 1], ["b", 2]])
    done = evenhand("validate", "s.csv", "--grades", "g.csv")
    assert done.code == 2
    assert "name it with --item; it also has 'answer_no'" in done.err


def test_equal_calls_give_equal_documents(desk):
    scores, grades = [1, 3, 2, 5, 4, 4], [[1, 2], [3, 3], [2, 1], [4, 5], [4, 4], [5, 3]]
    assert desk(scores, grades, "--scale", "1:5") == desk(scores, grades, "--scale", "1:5")


def test_a_document_is_written_beside(desk, evenhand, tmp_path):
    desk([1, 3, 2], [1, 3, 2], "--scale", "1:5", "-o", "v.json")
    assert json.loads((tmp_path / "v.json").read_text())["schema"] == "evenhand.validation/1"
    done = evenhand("validate", "s.csv", "--grades", "g.csv", "-o", "s.csv")
    assert done.code == 2
    assert (tmp_path / "s.csv").read_text().startswith("item,rerun,score")


def test_the_larger_run_may_be_the_file_of_the_records_itself(desk, evenhand):
    desk([1] * 6, [1] * 6)
    scores = [[f"i{k}", (k * 7) % 3 != 0] for k in range(50)]
    desk.write("all.csv", ["item", "score"], [[item, int(score)] for item, score in scores])
    desk.write("few.csv", ["item", "r"], [[f"i{k}", int(k % 4 != 0)] for k in range(12)])
    arguments = ("validate", "all.csv", "--grades", "few.csv", "--unlabelled", "all.csv", "--resamples", 199, "--json")
    done = evenhand(*arguments)
    assert done.code == 0, done.err
    naive = done.document["passing"]["naive_rate"]
    assert naive["n"] == 38
    assert naive["value"] == pytest.approx(sum(score for _, score in scores[12:]) / 38)
    assert "12 graded items stand there too and are counted as graded only" in done.err


@pytest.mark.parametrize("mark", ["nan", "inf", "9", "0"])
def test_a_pass_mark_that_is_no_grade_is_refused(desk, evenhand, mark):
    desk([3, 4, 5, 2], [1, 2, 3, 1])
    for arguments in (("validate", "s.csv"), ("compare", "s.csv", "s.csv")):
        done = evenhand(*arguments, "--grades", "g.csv", "--scale", "1:5", "--pass-at", mark)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"error: --pass-at {mark}: expected a grade")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names on this system")
def test_scores_from_a_pipe_are_refused_rather_than_waited_for(desk, evenhand, tmp_path):
    desk([3, 4, 5, 2], [1, 2, 3, 1])
    os.mkfifo(tmp_path / "pipe.csv")
    done = evenhand("validate", "pipe.csv", "--grades", "g.csv")
    assert (done.code, done.out) == (2, "")
    assert "pipe.csv: is a pipe, which can be read only once" in done.err


def test_misses_of_which_only_numbers_are_known_are_a_table_on_the_page(desk, evenhand, tmp_path):
    desk.write("s.csv", ["item", "score"], [[f"i{k}", k % 5 + 1] for k in range(20)])
    desk.write("g.csv", ["item", "anna"], [[f"i{k}", k % 4 + 1] for k in range(20)])
    options = ("--grades", "g.csv", "--scale", "1:5", "--resamples", 99, "-o", "r.md")
    assert evenhand("validate", "s.csv", *options).code == 0
    page = (tmp_path / "r.md").read_text()
    assert page.count("texts are not at hand") == 1
    assert "SDs apart" in page


def test_a_mean_kappa_says_which_raters_it_does_without(desk, evenhand):
    desk.write("s.csv", ["item", "score"], [[f"i{k}", 3] for k in range(8)])
    desk.write("g.csv", ["item", "anna", "be\x1bn"], [[f"i{k}", k % 5 + 1, 3] for k in range(8)])
    options = ("validate", "s.csv", "--grades", "g.csv", "--scale", "1:5", "--resamples", 99)
    kappa = evenhand(*options, "--json").document["weighted_kappa"]
    why = "over 1 of 2 pairs of judge and rater; left out: the judge and be{}n gave one and the same value throughout"
    assert kappa["left_out"] == why.format("\x1b")
    said = " ".join(evenhand(*options).out.split())
    assert why.format("\\x1b") in said
    assert "\x1b" not in said
