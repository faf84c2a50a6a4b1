"""`evenhand compare`: paired differences, coverage that differs, plans; as it is typed."""

import csv

import numpy as np
import pytest


@pytest.fixture
def table(tmp_path):
    def write(name, header, rows):
        with (tmp_path / name).open("w", newline="") as stream:
            csv.writer(stream).writerows([header, *[["" if cell is None else cell for cell in row] for row in rows]])
        return name

    return write


@pytest.fixture
def several(table):
    """Five judges, from good to useless, on 60 items with two raters."""
    rng = np.random.default_rng(5)
    quality = rng.normal(3, 1, 60)
    noise = {"best": 0.3, "good": 0.5, "fair": 1.0, "poor": 2.0, "none": 50.0}
    rows = [
        [f"i{k}", name, float(np.clip(round(quality[k] + sd * rng.normal()), 1, 5))]
        for name, sd in noise.items()
        for k in range(60)
    ]
    table("s.csv", ["item", "judge", "score"], rows)
    table("g.csv", ["item", "anna", "ben"],
          [[f"i{k}", *(float(np.clip(round(quality[k] + 0.5 * rng.normal()), 1, 5)) for _ in range(2))]
           for k in range(60)])  # fmt: skip
    return "s.csv", "g.csv"


def test_failures_are_no_zeros_and_unequal_coverage_forbids_a_plain_ranking(table, evenhand):
    for name, scores in (("a", [4, 5, None, 4, None, 5, None, 4]), ("b", [4, 3, 4, 4, 3, 4, 4, 4])):
        table(f"{name}.csv", ["item", "score"], [[f"i{k}", score] for k, score in enumerate(scores)])
    found = evenhand("compare", "a.csv", "b.csv", "--scale", "1:5", "--json").document
    first, second = found["judges"]
    assert (first["mean"]["value"], second["mean"]["value"]) == (pytest.approx(4.4), 3.75)
    assert (first["mean_on_shared"], second["mean_on_shared"]) == (pytest.approx(4.4), pytest.approx(3.8))
    assert (first["counts"]["verdict"], second["counts"]["verdict"]) == (5, 8)
    assert (first["worst_case"], first["best_case"]) == (3.125, 4.625)
    (pair,) = found["pairs"]
    assert pair["n"] == 5
    assert pair["difference"] == pytest.approx(0.6)
    assert found["ranking"] is None
    assert found["why_no_ranking"].startswith("coverage differs (a 5 of 8, b 8 of 8)")
    shown = evenhand("compare", "a.csv", "b.csv", "--scale", "1:5")
    assert "no plain ranking" in shown.out
    assert "3 of 8 items without a score" in shown.out


def test_words_for_a_failure_are_no_zeros_either(table, evenhand):
    """The same failures as an empty cell, as a word and as a number off the scale: one comparison."""
    whole = [4, 3, 4, 4, 3, 4, 4, 4]
    table("b.csv", ["item", "score"], [[f"i{k}", score] for k, score in enumerate(whole)])
    seen = []
    for lost in ("", "N/A", 0, -1):
        scores = [4, 5, lost, 4, lost, 5, lost, 4]
        table("a.csv", ["item", "score"], [[f"i{k}", score] for k, score in enumerate(scores)])
        found = evenhand("compare", "a.csv", "b.csv", "--scale", "1:5", "--json").document
        first, _ = found["judges"]
        assert (first["mean"]["value"], first["worst_case"], first["best_case"]) == (pytest.approx(4.4), 3.125, 4.625)
        seen.append((found["pairs"][0]["difference"], found["pairs"][0]["n"], found["ranking"]))
    assert set(map(str, seen)) == {str(seen[0])}


def test_failures_of_both_judges_on_other_items_are_compared_on_what_both_have(table, evenhand):
    for name, scores in (("a", [5, 5, 5, 5, None, None]), ("b", [None, None, 3, 4, 5, 5])):
        table(f"{name}.csv", ["item", "score"], [[f"i{k}", score] for k, score in enumerate(scores)])
    found = evenhand("compare", "a.csv", "b.csv", "--scale", "1:5", "--json").document
    assert [one["mean"]["value"] for one in found["judges"]] == [5.0, 4.25]
    assert [one["mean_on_shared"] for one in found["judges"]] == [5.0, 3.5]
    assert (found["pairs"][0]["n"], found["pairs"][0]["difference"], found["ranking"]) == (2, 1.5, None)


def test_a_judge_that_failed_on_every_item_is_not_the_worst_one(table, evenhand):
    for name, scores in (("a", [None] * 5), ("b", [3, 4, 2, 5, 1])):
        table(f"{name}.csv", ["item", "score"], [[f"i{k}", score] for k, score in enumerate(scores)])
    done = evenhand("compare", "a.csv", "b.csv", "--scale", "1:5")
    assert done.code == 2
    assert "Traceback" not in done.err


def test_pairs_have_the_keys_that_others_rely_on(several, evenhand):
    scores, grades = several
    done = evenhand("compare", scores, "--grades", grades, "--scale", "1:5", "--resamples", 499, "--json")
    found = done.document
    assert len(found["pairs"]) == 10
    for pair in found["pairs"]:
        assert {"a", "b", "difference", "low", "high", "detectable"} <= pair.keys()
        assert pair["low"] <= pair["difference"] <= pair["high"]
        assert pair["detectable"] > 0
        assert pair["simultaneous"]
        alone = pair["alone"]
        assert pair["high"] - pair["low"] > alone[1] - alone[0]
    better = {(one["better"], one["worse"]) for one in found["told_apart"]}
    assert ("best", "none") in better
    assert ("none", "best") not in better
    assert found["ranking"] is None
    assert "not told apart" in found["why_no_ranking"]


def test_judges_that_the_intervals_tell_apart_are_ranked(table, evenhand):
    rng = np.random.default_rng(8)
    human = rng.permutation(np.repeat(np.arange(1, 6), 40))
    table("g.csv", ["item", "r"], [[f"i{k}", grade] for k, grade in enumerate(human)])
    for name, sd in (("good", 0.3), ("bad", 4.0)):
        scores = np.clip(np.round(human + sd * rng.normal(size=200)), 1, 5)
        table(f"{name}.csv", ["item", "score"], [[f"i{k}", score] for k, score in enumerate(scores)])
    found = evenhand("compare", "bad.csv", "good.csv", "--grades", "g.csv", "--scale", "1:5", "--json").document
    assert found["ranking"] == ["good", "bad"]


def test_what_moved_is_named_with_who_is_nearer(table, evenhand):
    table("g.csv", ["item", "r"], [[f"i{k}", 1 + k % 5] for k in range(20)])
    table("a.csv", ["item", "score"], [[f"i{k}", 1 + k % 5] for k in range(20)])
    table("b.csv", ["item", "score"], [[f"i{k}", 5 if k == 10 else 1 + k % 5] for k in range(20)])
    found = evenhand("compare", "a.csv", "b.csv", "--grades", "g.csv", "--scale", "1:5", "--pass-at", 3, "--json")
    (pair,) = found.document["pairs"]
    assert (pair["n_moved"], pair["n_identical"]) == (1, 19)
    assert pair["moved"] == [{"item": "i10", "a": 1.0, "b": 5.0, "human": 1.0, "nearer": "a"}]
    assert pair["flips"] == {"a_alone_passes": 0, "b_alone_passes": 1}
    assert pair["mcnemar_p"] == 1.0


@pytest.mark.shared
def test_two_judges_of_pairs_have_the_published_accuracy_and_an_exact_test(shared, evenhand, table):
    folder = shared / "data/judgments/llmbar_pairs"
    with (folder / "items.csv").open() as stream:
        labels = {row["item_id"]: int(row["label"]) - 1 for row in csv.DictReader(stream)}
    chosen: dict[str, dict[str, int]] = {"GPT-4": {}, "PaLM2": {}}
    with (folder / "judgments.csv").open() as stream:
        for row in csv.DictReader(stream):
            if row["judge"] in chosen and row["prompt"] == "Vanilla" and row["winner_order12"]:
                chosen[row["judge"]][row["item_id"]] = int(row["winner_order12"]) - 1
    table("g.csv", ["item", "expert"], labels.items())
    for judge, scores in chosen.items():
        table(f"{judge}.csv", ["item", "score"], scores.items())
    found = evenhand("compare", "GPT-4.csv", "PaLM2.csv", "--grades", "g.csv", "--resamples", 99, "--json").document
    shared_items = sorted(chosen["GPT-4"].keys() & chosen["PaLM2"].keys())
    right = {j: [chosen[j][item] == labels[item] for item in shared_items] for j in chosen}
    only = [sum(a and not b for a, b in zip(right["GPT-4"], right["PaLM2"], strict=True)),
            sum(b and not a for a, b in zip(right["GPT-4"], right["PaLM2"], strict=True))]  # fmt: skip
    from statsmodels.stats.contingency_tables import mcnemar

    exact = mcnemar([[0, only[0]], [only[1], 0]], exact=True).pvalue
    assert found["pairs"][0]["mcnemar_p"] == pytest.approx(exact, rel=1e-9)
    accuracies = []
    for order in ("winner_order12", "winner_order21"):
        with (folder / "judgments.csv").open() as stream:
            rows = [row for row in csv.DictReader(stream) if (row["judge"], row["prompt"]) == ("GPT-4", "Vanilla")]
        table("one.csv", ["item", "score"], [[row["item_id"], int(row[order]) - 1] for row in rows])
        one = evenhand("validate", "one.csv", "--grades", "g.csv", "--resamples", 99, "--json").document
        accuracies.append(one["passing"]["agreement"]["value"])
    assert sum(accuracies) / 2 == pytest.approx(0.844869, abs=1e-6)


def test_a_plan_says_what_a_wanted_difference_needs(several, evenhand):
    scores, grades = several
    options = ("compare", scores, "--grades", grades, "--scale", "1:5", "--resamples", 199, "--plan", "--json")
    plans = evenhand(*options).document["plan"]
    assert len(plans) == 10
    rows = {(row["raters"], row["reruns"]): row["items"] for row in plans[0]["rows"]}
    assert rows[2, 1] > rows[4, 1] > rows[6, 1]  # more raters, fewer items
    assert rows[2, 3] is None  # the pilot had no reruns, so that nothing is known of what more would do
    wider = evenhand(*options, "--wanted", 0.2).document["plan"][0]["rows"][0]["items"]
    assert wider == pytest.approx(rows[2, 1] / 4, abs=1)
    shown = evenhand("compare", scores, "--grades", grades, "--scale", "1:5", "--resamples", 199, "--plan")
    assert "to find a difference of 0.1" in shown.out
    assert plans[0]["unknown"] == ["other reruns: the pilot has none"]
    assert "cannot be told (other reruns: the pilot has none)" in " ".join(shown.out.split())


def test_a_plan_for_items_of_few_sources_counts_sources_and_what_the_items_are_worth(table, evenhand):
    # in half of the sources a judge is right and in half it is upside down: items of one source tell the same
    rng = np.random.default_rng(7)
    kind, human = np.repeat(rng.permutation([1, 1, 1, -1] * 6), 5), rng.integers(1, 6, 120)
    for name, noise in (("a", 0.3), ("b", 1.0)):
        scores = np.clip(np.round(3 + kind * (human - 3) + noise * rng.normal(size=120)), 1, 5)
        table(f"{name}.csv", ["item", "score"], [[f"i{k}", score] for k, score in enumerate(scores)])
    table("g.csv", ["item", "source", "anna"], [[f"i{k}", f"s{k // 5}", grade] for k, grade in enumerate(human)])
    options = ("compare", "a.csv", "b.csv", "--grades", "g.csv", "--rater", "anna", "--scale", "1:5", "--plan")
    alone = evenhand(*options, "--json").document["plan"][0]
    plan = evenhand(*options, "--cluster", "source", "--json").document["plan"][0]
    assert (alone["n_sources"], plan["n_sources"]) == (None, 24)
    assert "sources" not in alone["rows"][0]
    assert plan["rows"][0]["sources"] == pytest.approx(plan["rows"][0]["items"] / 5, abs=1)
    assert plan["items_for_rho"] > 2 * alone["items_for_rho"]
    said = evenhand(*options, "--cluster", "source").out
    assert "sources must grow with the items" in " ".join(said.split())


def test_a_judge_that_gave_one_value_is_undefined_and_named(table, evenhand):
    table("g.csv", ["item", "r"], [[f"i{k}", 1 + k % 5] for k in range(20)])
    table("a.csv", ["item", "score"], [[f"i{k}", 1 + k % 5] for k in range(20)])
    table("seven.csv", ["item", "score"], [[f"i{k}", 3] for k in range(20)])
    done = evenhand("compare", "a.csv", "seven.csv", "--grades", "g.csv", "--scale", "1:5", "--json")
    (pair,) = done.document["pairs"]
    assert (pair["difference"], pair["low"], pair["detectable"]) == (None, None, None)
    assert pair["undefined"] == "seven gave one value"
    assert "rho undefined" in evenhand("compare", "a.csv", "seven.csv", "--grades", "g.csv", "--scale", "1:5").out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("a.csv",), "expected two or more"),
        (("a.csv", "other.csv", "--grades", "g.csv"), "has no score of any"),
        (("a.csv", "none.csv"), "no such file"),
        (("a.csv", "a.csv", "--grades", "g.csv", "--cluster", "query"), "--cluster 'query'"),
        (("a.csv", "a.csv", "--grades", "g.csv", "--plan", "--wanted", "0"), "--wanted 0"),
        (("a.csv", "short.csv", "--grades", "g.csv", "--strict"), "--strict"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(table, evenhand, arguments, sentence):
    table("g.csv", ["item", "r"], [[f"i{k}", 1 + k % 5] for k in range(9)])
    table("a.csv", ["item", "score"], [[f"i{k}", 1 + k % 5] for k in range(9)])
    table("short.csv", ["item", "score"], [[f"i{k}", 1 + k % 4] for k in range(8)])
    table("other.csv", ["item", "score"], [[f"x{k}", 1 + k % 5] for k in range(9)])
    done = evenhand("compare", *arguments)
    assert done.code == 2
    assert sentence in done.err
    assert done.out == ""


def test_scores_that_are_not_plainly_on_one_scale_are_not_ranked_by_guess(table, evenhand):
    for name, factor in (("small", 1), ("large", 10)):
        table(f"{name}.csv", ["item", "score"], [[f"i{k}", factor * score] for k, score in enumerate([3, 4, 2, 5, 1])])
    done = evenhand("compare", "small.csv", "large.csv")
    assert (done.code, done.out) == (2, "")
    assert "'small' and 'large' are on different or unknown scales" in done.err
    assert evenhand("compare", "small.csv", "large.csv", "--scale", "0:100").code == 0


def test_items_have_not_moved_between_scales_that_are_not_known(table, evenhand):
    for name, factor in (("small", 1), ("large", 10)):
        table(f"{name}.csv", ["item", "score"], [[f"i{k}", factor * score] for k, score in enumerate([3, 4, 2, 5, 1])])
    table("g.csv", ["item", "r"], [[f"i{k}", grade] for k, grade in enumerate([3, 4, 3, 5, 2])])
    done = evenhand("compare", "small.csv", "large.csv", "--grades", "g.csv", "--json", "--resamples", 199)
    assert done.code == 0, done.err
    (pair,) = done.document["pairs"]
    assert (pair["n_moved"], pair["n_identical"], pair["moved"], pair["mean_difference"]) == (None, None, [], None)
    assert pair["difference"] == 0.0
    assert "moved by a level" not in evenhand("compare", "small.csv", "large.csv", "--grades", "g.csv").out


def test_what_is_said_beside_a_pair_is_the_same_on_the_page_and_on_the_terminal(table, evenhand, tmp_path):
    """Every test of the pair, and a single item that moved."""
    one = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]
    table("a.csv", ["item", "score"], [[f"i{k}", score] for k, score in enumerate(one)])
    table("b.csv", ["item", "score"], [[f"i{k}", score + (k == 4) * -2] for k, score in enumerate(one)])
    table("g.csv", ["item", "r"], [[f"i{k}", min(5, score + k % 2)] for k, score in enumerate(one)])
    done = evenhand("compare", "a.csv", "b.csv", "--grades", "g.csv", "--scale", "1:5", "--pass-at", 4,
                    "--resamples", 199, "-o", "page.html")  # fmt: skip
    assert done.code == 0, done.err
    said = " ".join(done.out.split())
    assert (
        "a / b: 1 item moved by a level or more; pass alone 1 and 0; McNemar p = 1.000; Wilcoxon on errors p = " in said
    )
    page = (tmp_path / "page.html").read_text()
    words = said.partition("a / b: ")[2]
    assert words[: words.index("Wilcoxon") + len("Wilcoxon on errors p = 0.000")] in page
