"""Every shared case of `rank`, by the commands as a person runs them."""

import json

import pytest


@pytest.fixture
def case(shared, evenhand, tmp_path):
    """Runs a command on a case's table: (its document, what is expected)."""

    def runs(key, command, *options):
        folder = shared / "data" / "cases"
        lines = (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()
        told = next(one for one in map(json.loads, lines) if one["id"] == key)
        given = told["input"]
        path = folder / given["table"] if "table" in given else tmp_path / "t.csv"
        if "csv" in given:
            path.write_text(given["csv"], "utf-8")
        asked = ["--score", given["score"], *options]
        done = evenhand("rank", command, path, *asked, "--json")
        return done.document, told["expected"]

    return runs


def violators(found):
    return [one["name"] for one in found["violations"]]


def test_t091_a_mean_of_means_is_no_mean_of_what_is_shown(case):
    found, expected = case("T091", "verify", "--rule", "hmean(precision, recall)")
    assert found["verdict"] in (expected["verify"], "undetermined")
    assert found["n_rows"] - len(found["violations"]) == expected["harmonic_rows_feasible"]
    assert case("T091", "recover")[0]["verdict"] == expected["recover"]


def test_t093_equal_weights_are_refuted_and_the_counts_lie_inside(case):
    found, expected = case("T093", "recover")
    assert found["verdict"] == expected["recover"]
    told = [one for name, one in found["rules"][0]["parameters"].items() if name.startswith("weight of ")]
    assert all(one["low"] <= w <= one["high"] for one, w in zip(told, expected["weights"], strict=True))


@pytest.mark.parametrize("policy", [(), ("--missing", "renormalise")])
def test_t095_a_mean_over_the_cells_that_are_there(case, policy):
    found, expected = case("T095", "recover", *policy)
    assert found["verdict"] == expected["recover"]
    assert found["rules"][0]["rule"].endswith(f"missing = {expected['missing_policy']}")
    assert len(found["rules"][0]["missing_rows"]) == len(expected["rows_that_carry_it"])


@pytest.mark.parametrize("exact", [(), ("--exact", "ai,sys,theory,hci")])
def test_t097_a_count_of_0_is_lifted_to_1(case, exact):
    found, expected = case("T097", "recover", *exact)
    assert found["verdict"] == expected["recover"]
    floor = found["rules"][0]["parameters"]["floor"]
    assert (floor["value"], floor["low"] <= 1 <= floor["high"]) == (1, True)
    assert len(found["rules"][0]["clauses"][0]["carried_by"]) == len(expected["rows_with_zero"])


def test_t099_a_skipped_part_counts_as_1(case):
    rule = "geomean(regex, crypto, ray, deltablue)"
    found, expected = case("T099", "verify", "--rule", rule, "--missing", "renormalise")
    assert (found["verdict"], violators(found)) == (expected["verify"], expected["violators"])
    assert case("T099", "verify", "--rule", rule, "--missing", "1")[0]["verdict"] == "all"
    assert case("T099", "recover")[0]["rules"][0]["rule"].endswith("missing = 1")


def test_t101_a_division_by_zero_names_its_row(case):
    found, expected = case("T101", "verify", "--rule", "1000 / gmean(t1, t2, t3)")
    assert [(one["row"], one["name"]) for one in found["violations"]] == [(expected["bad_row"], expected["name"])]
    assert "division by zero" in found["violations"][0]["reason"]


def test_t103_ties_share_the_worst_place(case):
    found, expected = case("T103", "verify", "--rule", "rank(errors, lower)")
    assert violators(found) == expected["violators"]
    assert case("T103", "recover")[0]["rules"][0]["rule"] == "rank(errors, lower, ties=max)"


def test_t105_a_sentinel_is_named_and_averaged_as_it_stands(case):
    found, expected = case("T105", "verify", "--rule", "mean(task1, task2)", "--missing", "zero")
    assert found["verdict"] == "all"
    notes = " ".join(found["table"]["notes"])
    assert "-1 probably stands for a missing value" in notes
    assert all(name in notes for name in (*expected["sentinel_rows"], *expected["missing_rows"]))


def test_t107_equal_systems_lead_together(case):
    found, expected = case("T107", "reweight", "--rule", "mean(speed, style)")
    first, second = (found["shares"][name] for name in expected["tie"])
    assert (first["value"], first["tied"]) == (second["value"], second["tied"])
    assert set(expected["tie"]) <= set(found["possible_leaders"])


def test_t109_what_counts_once_is_a_cap(case):
    found, expected = case("T109", "recover", "--exact", "bug_found,documented,hints")
    rule = found["rules"][0]
    assert rule["rule"] == "2 * min(bug_found, 1) + documented + 0.5 * min(hints, 3)"
    assert [len(one["carried_by"]) for one in rule["clauses"]] == [
        len(expected["rows_cap_1"]),
        len(expected["rows_cap_2"]),
    ]
    plain, _ = case("T109", "verify", "--rule", "2 * bug_found + documented + 0.5 * hints")
    assert plain["verdict"] != "all"


def test_t111_spans_put_every_cell_under_its_header(case):
    found, expected = case("T111", "verify", "--rule", "mean(easy, hard)")
    assert (found["verdict"], found["n_rows"]) == (expected["verify"], len(expected["rows"]))
    assert any("Bittern" in note for note in found["table"]["notes"])


def test_t113_one_grader_sums_and_the_other_does_not(case):
    exact = ("--exact", "ideas,language,form")
    found, expected = case("T113", "verify", "--rule", "sum(ideas, language, form)", *exact)
    assert (found["verdict"], violators(found)) == (expected["verify"], expected["violators"])
    told, _ = case("T113", "recover", *exact, "--era", "grader")
    assert told["verdict"] != "unique"
    assert all(name in told["reason"] for name in expected["contradiction"])
    assert case("T113", "recover")[0]["verdict"] != "unique"
