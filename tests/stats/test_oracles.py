"""Figures that other libraries computed on real sets: SummEval, TREC, HANNA and LLM-Rubric, to their printed digits."""

import csv
import json

import numpy as np
import pytest

from evenhand.stats.alpha import krippendorff_alpha
from evenhand.stats.attenuation import attenuation
from evenhand.stats.ceiling import human_ceiling, pairwise_agreement
from evenhand.stats.icc import intraclass_correlations
from evenhand.stats.kappa import agreement, scale_levels, weighted_kappa
from evenhand.stats.one_way import one_way
from evenhand.stats.rank import bonett_wright_interval, kendall_tau_b, spearman
from evenhand.stats.resampling import Bootstrap

pytestmark = pytest.mark.shared

DIGITS = 6e-7
CRITERIA = ("RE", "CH", "EM", "SU", "EG", "CX")
QUESTIONS = tuple(f"Q{k}" for k in range(9))


@pytest.fixture(scope="module")
def judgments(shared):
    return shared / "data" / "judgments"


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def oracles_of(folder):
    return json.loads((folder / "oracles.json").read_text(encoding="utf-8"))


def check_humans(grades, oracle):
    """Everything that an oracle says about several raters."""
    assert grades.shape == (oracle["n_items"], oracle["n_raters"])
    for measurement in ("nominal", "ordinal", "interval"):
        found = krippendorff_alpha(grades, measurement=measurement).value
        assert found == pytest.approx(oracle[f"alpha_{measurement}"], abs=DIGITS)
    for label, found in intraclass_correlations(grades).by_label().items():
        assert found.value == pytest.approx(oracle[label], abs=DIGITS)
    ceiling, pairwise = human_ceiling(grades), pairwise_agreement(grades)
    assert [one.human.value for one in ceiling.raters] == pytest.approx(oracle["leave_one_out_rho"], abs=DIGITS)
    assert ceiling.mean.value == pytest.approx(oracle["ceiling_loo_rho_mean"], abs=DIGITS)
    assert pairwise.mean.value == pytest.approx(oracle["mean_pairwise_rho"], abs=DIGITS)
    assert pairwise.reliability.value == pytest.approx(oracle["spearman_brown_k_from_mean_pairwise"], abs=DIGITS)
    bound = oracle["max_rho_vs_human_mean_(sqrt_SB)"]
    assert pairwise.bound.value == (None if bound is None else pytest.approx(bound, abs=DIGITS))


@pytest.fixture(scope="module")
def summeval(judgments):
    rows = rows_of(judgments / "summeval_coherence_experts" / "ratings.csv")
    grades = np.array([[float(row[f"expert_{k}"]) for k in range(3)] for row in rows])
    return grades, [row["doc"] for row in rows], oracles_of(judgments / "summeval_coherence_experts")


def test_three_experts_on_summaries(summeval):
    grades, _, oracle = summeval
    check_humans(grades, oracle["humans"])


def test_kappa_of_two_experts(summeval):
    pytest.importorskip("statsmodels", reason="needs statsmodels: pip install 'evenhand[stats]'")
    grades, _, oracle = summeval
    for pair, value in oracle["weighted_kappa_quadratic"].items():
        a, b = (int(name[-1]) for name in pair.split("-"))
        found = weighted_kappa(grades[:, a], grades[:, b], levels=scale_levels(1, 5))
        assert found.value == pytest.approx(value, abs=DIGITS)


def test_alphas_interval_agrees_with_another_tool(summeval):
    grades, documents, _ = summeval
    found = krippendorff_alpha(grades, bootstrap=Bootstrap())
    assert (found.low, found.high) == pytest.approx((0.529, 0.578), abs=0.003)  # metajudge 0.3.0
    assert "clusters" in krippendorff_alpha(grades, bootstrap=Bootstrap(n_resamples=50, clusters=documents)).method


@pytest.fixture(scope="module")
def trec(judgments):
    rows = rows_of(judgments / "llmjudge_trec_dl23" / "labels.csv")
    runs = [name for name in rows[0] if name not in ("qid", "docid", "human")]
    scores = {name: np.array([float(row[name]) for row in rows]) for name in ["human", *runs]}
    return scores, [row["qid"] for row in rows], oracles_of(judgments / "llmjudge_trec_dl23")


def test_thirty_three_runs_against_one_human(trec):
    scores, _, oracle = trec
    levels = scale_levels(0, 3)
    for run, figures in oracle["runs"].items():
        judge, human = scores[run], scores["human"]
        assert spearman(judge, human).value == pytest.approx(figures["rho"], abs=DIGITS)
        assert kendall_tau_b(judge, human).value == pytest.approx(figures["tau_b"], abs=DIGITS)
        alpha = krippendorff_alpha(np.column_stack([judge, human])).value
        assert alpha == pytest.approx(figures["alpha_ordinal"], abs=DIGITS)
        for weights, key in (("none", "kappa"), ("quadratic", "qwk")):
            found = weighted_kappa(judge, human, levels=levels, weights=weights)
            assert found.value is None or found.value == pytest.approx(figures[key], abs=DIGITS)


def test_an_interval_over_queries_is_five_times_as_wide_as_one_over_rows(trec):
    scores, queries, _ = trec
    judge, human = scores["willia-umbrela1"], scores["human"]
    rows = spearman(judge, human, bootstrap=Bootstrap(n_resamples=1000, seed=7))
    clustered = spearman(judge, human, bootstrap=Bootstrap(n_resamples=1000, seed=7, clusters=queries))
    assert rows.value == pytest.approx(0.506584, abs=DIGITS)
    assert (rows.low, rows.high) == pytest.approx((0.483, 0.530), abs=0.002)
    assert (clustered.low, clustered.high) == pytest.approx((0.373, 0.625), abs=0.01)
    assert clustered.method == "percentile bootstrap over 25 clusters"


def test_the_first_sixty_rows(trec):
    scores, _, oracle = trec
    judge, human = scores["willia-umbrela1"][:60], scores["human"][:60]
    found = spearman(judge, human, bootstrap=Bootstrap(n_resamples=9999, seed=7))
    expected = oracle["first_60_rows_willia-umbrela1"]
    assert found.value == pytest.approx(expected["rho"], abs=DIGITS)
    assert bonett_wright_interval(found.value, 60) == pytest.approx(tuple(expected["bonett_wright_95"]), abs=DIGITS)
    assert (found.low, found.high) == pytest.approx((0.4528, 0.7435), abs=6e-5)
    assert kendall_tau_b(judge, human).value == pytest.approx(0.541643, abs=DIGITS)


@pytest.mark.parametrize(
    ("prompt", "sd", "icc", "same"), [("instruct", 0.0313, 0.9981, 0.9971), ("reason", 0.0194, 0.9993, 0.9989)]
)
def test_reruns_of_one_prompt_hardly_differ(trec, prompt, sd, icc, same):
    scores, _, _ = trec
    reruns = np.column_stack([scores[f"NISTRetrieval-{prompt}{k}"] for k in range(3)])
    found = one_way(reruns)
    assert found.within_sd.value == pytest.approx(sd, abs=6e-5)
    assert found.icc.value == pytest.approx(icc, abs=6e-5)
    assert (reruns == reruns[:, :1]).all(axis=1).mean() == pytest.approx(same, abs=6e-5)


@pytest.fixture(scope="module")
def hanna(judgments):
    return rows_of(judgments / "hanna_stories" / "scores.csv"), oracles_of(judgments / "hanna_stories")


@pytest.mark.parametrize("criterion", CRITERIA)
def test_three_readers_of_stories(hanna, criterion):
    rows, oracle = hanna
    grades = np.array([[float(row[f"human{k}_{criterion}"]) for k in (1, 2, 3)] for row in rows])
    check_humans(grades, oracle["humans"][criterion])


def test_every_judge_of_stories(hanna):
    rows, oracle = hanna
    means = {c: np.mean([[float(row[f"human{k}_{c}"]) for row in rows] for k in (1, 2, 3)], axis=0) for c in CRITERIA}
    assert len(oracle["judge_vs_human_mean"]) == 120
    for name, figures in oracle["judge_vs_human_mean"].items():
        judge, humans = [float(row[name]) for row in rows], means[name.rpartition("_")[2]]
        assert spearman(judge, humans).value == pytest.approx(figures["rho"], abs=DIGITS)
        assert kendall_tau_b(judge, humans).value == pytest.approx(figures["tau_b"], abs=DIGITS)


def test_readers_who_do_not_agree_correct_nothing(hanna):
    rows, _ = hanna
    grades = np.array([[float(row[f"human{k}_CH"]) for k in (1, 2, 3)] for row in rows])
    judge = np.array([[float(row["ChatGPT_p1_CH"])] for row in rows])
    found = attenuation(judge, grades, bootstrap=Bootstrap(n_resamples=199))
    assert found.observed.value > 0.4
    assert found.human_reliability.value == pytest.approx(-0.180143, abs=DIGITS)
    assert found.corrected.value is None
    assert found.corrected.undefined.startswith("the reliability of the humans' mean is -0.18")


def test_kappas_companion_is_agreement(trec):
    scores, _, _ = trec
    found = agreement(scores["NISTRetrieval-instruct0"], scores["NISTRetrieval-instruct1"])
    assert found.value > 0.99
    assert found.low < found.value < found.high


@pytest.fixture(scope="module")
def dialogues(judgments):
    folder = judgments / "llm_rubric_dialogues"
    parts = {part: [rows_of(folder / f"{part}_{who}.csv") for who in ("human", "gpt35")] for part in ("real", "synth")}
    return parts, oracles_of(folder)


def graded(rows, question):
    """Text to annotator to grades; 0 is left out (not answered), and nine annotators graded a text twice."""
    found = {}
    for row in rows:
        if row[question] and float(row[question]):
            found.setdefault(row["text_id"], {}).setdefault(row["annotator_id"], []).append(float(row[question]))
    return found


@pytest.mark.parametrize("part", ["real", "synth"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_judge_of_dialogues_that_is_hardly_better_than_none(dialogues, part, question):
    parts, oracle = dialogues
    humans, judged = parts[part]
    figures, grades = oracle[part][question], graded(humans, question)
    assert len(grades) == figures["n_items_with_human"]
    rows = [row for row in judged if row["criterion"] == question and row["text_id"] in grades]
    means = [np.mean([grade for twice in grades[row["text_id"]].values() for grade in twice]) for row in rows]
    expected = [sum(k * float(row[f"answer{k}_prob"]) for k in range(1, 5)) for row in rows]
    sampled = spearman([float(row["sample_llm"]) for row in rows], means)
    assert sampled.n == figures["n_matched"]
    assert sampled.value == pytest.approx(figures["rho_sample"], abs=DIGITS)
    assert spearman(expected, means).value == pytest.approx(figures["rho_expected"], abs=DIGITS)


@pytest.mark.parametrize("question", QUESTIONS)
def test_annotators_of_dialogues_hardly_agree(dialogues, question):
    parts, oracle = dialogues
    grades = graded(parts["synth"][0], question)
    raters = sorted({rater for found in grades.values() for rater in found})
    matrix = [[np.mean(found[rater]) if rater in found else None for rater in raters] for found in grades.values()]
    found = krippendorff_alpha(matrix)
    assert found.value == pytest.approx(oracle["synth"][question]["alpha_ordinal_humans"], abs=DIGITS)


def test_zeros_that_mean_not_answered_are_dropped(shared):
    # T079: dropping the zeros leaves 11 items, dropping the items that have one leaves 8.
    path = shared / "data" / "cases" / "cases.jsonl"
    case = next(json.loads(line) for line in path.read_text("utf-8").split("\n") if line and '"T079"' in line)
    raters = np.array([case["input"]["rater_1"], case["input"]["rater_2"]], dtype=float)
    judge, expected = case["input"]["judge"], case["expected"]
    raters[raters == 0] = np.nan
    there = (~np.isnan(raters)).sum(axis=0)
    means = np.where(there > 0, np.nansum(raters, axis=0) / np.maximum(there, 1), np.nan)
    dropped = spearman(judge, means)
    assert (dropped.value, dropped.n) == (pytest.approx(expected["rho_zeros_dropped"], abs=DIGITS), 11)
    whole = spearman(judge, np.where(there == 2, means, np.nan))
    assert (whole.value, whole.n) == (pytest.approx(expected["rho_items_with_zero_dropped"], abs=DIGITS), 8)
