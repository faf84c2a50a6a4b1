"""Bare numbers beside evidence on the same items: closing table and JSON document of `evenhand judge --naive`."""

import json

import pytest

NUMBER = "name: bare\nprotocol: number\nmodels: [scripted/rated.jsonl]\ncriteria: [{id: quality, levels: [0, 100]}]\n"
EVIDENCE = "name: shown\nprotocol: evidence\nmodels: [scripted/found.jsonl]\n"
ITEMS = [{"id": f"i{k}", "candidate": f"Answer {k} names the table and the hour."} for k in range(4)]


@pytest.fixture
def rated(evenhand, tmp_path):
    """rated(ratings, items): four items, rated; `found.jsonl` makes every evidence score 57."""

    def run(ratings, items=ITEMS):
        (tmp_path / "number.yaml").write_text(NUMBER)
        (tmp_path / "evidence.yaml").write_text(EVIDENCE)
        (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, ITEMS)))
        (tmp_path / "rated.items.jsonl").write_text("\n".join(map(json.dumps, items)))
        replies = [{"criteria": [{"id": "quality", "reason": "So.", "rating": rating}]} for rating in ratings]
        (tmp_path / "rated.jsonl").write_text("\n".join(map(json.dumps, replies)))
        # +2 alone: 50 + (8 * 2) * (0.75 + 0.25 / 20) = 62.2
        (tmp_path / "found.jsonl").write_text(
            json.dumps({"items": [{"claim": "It names both.", "quote": "the table", "impact": 2}]})
        )
        done = evenhand("judge", "number.yaml", "rated.items.jsonl", "-j", 1, "-o", "naive.jsonl")
        assert done.code == 0, done.err
        return lambda *more: evenhand("judge", "evidence.yaml", "items.jsonl", "--naive", "naive.jsonl", *more)

    return run


def test_the_distance_stands_with_n_interval_and_what_it_means(rated):
    document = rated([92, 82, 82, 72])("--json").document
    (found,) = document["divergence"]
    # the scores are 62.2 unrounded: differences 29.8, 19.8, 19.8, 9.8, mean 19.8; SD sqrt(200/3), t(3) = 3.182
    assert (found["naive"], found["evidence"], found["n_items"], found["left_out"]) == ("bare", "shown", 4, 0)
    assert found["mean"] == pytest.approx(19.8, abs=0.001)
    half = 3.182 * (200 / 3) ** 0.5 / 2
    assert found["interval"] == pytest.approx([19.8 - half, 19.8 + half], rel=3e-3)
    assert (found["reading"], found["sure"], found["same_models"]) == ("one_is_wrong", False, False)


def test_the_closing_table_says_it_in_words_within_eighty_columns(rated):
    out = rated([92, 82, 82, 72])().out
    lines = out[out.index("naive ") :].split("\n")
    assert max(map(len, out.split("\n"))) <= 80
    assert "19.8 points of 100 apart on average [6.8, 32.8], n = 4 items" in " ".join(" ".join(lines).split())
    assert "one of the two ways is wrong" in " ".join(" ".join(lines).split())
    assert "not sure" in out
    assert "other models gave the numbers (scripted/rated.jsonl)" in " ".join(out.split())


def test_items_of_one_run_alone_are_counted_and_nothing_in_common_has_no_distance(rated):
    other = [{"id": "x", "candidate": "Another answer."}]
    (found,) = rated([50], other)("--json").document["divergence"]
    assert (found["n_items"], found["left_out"], found["mean"], found["interval"]) == (0, 5, None, None)
    out = rated([50], [*other, ITEMS[0]])().out
    assert "n = 1 item; 4 scored by one of them or none" in " ".join(out.split())
    assert "undefined for one item" in " ".join(out.split())


def test_hidden_scores_hide_the_distance(rated):
    out = rated([92, 82, 82, 72])("--hide-scores").out
    assert "19.8" not in out
    assert "distance hidden" in out


def test_a_report_of_both_files_says_it_before_any_number(evenhand, rated, tmp_path):
    rated([92, 82, 82, 72])("-o", "evidence.jsonl")
    done = evenhand("report", "evidence.jsonl", "naive.jsonl", "-o", "r.html", "-o", "r.md", "--json")
    assert done.code == 0, done.err
    assert done.document["source"] == "evidence.jsonl, naive.jsonl"
    assert done.document["divergences"]["rows"][0][3:6] == ["4", "0", "19.8"]
    for name in ("r.html", "r.md"):
        text = (tmp_path / name).read_text()
        assert text.index("19.8 points of 100 apart on average") < text.index("Criterion")
    (tmp_path / "both.jsonl").write_text(
        "".join((tmp_path / name).read_text() for name in ("naive.jsonl", "evidence.jsonl"))
    )
    assert evenhand("report", "both.jsonl", "--json").document["divergences"]["rows"][0][5] == "19.8"


def test_a_file_named_twice_is_refused_since_it_would_count_twice(evenhand, rated, tmp_path):
    rated([50, 50, 50, 50])
    (tmp_path / "link.jsonl").symlink_to("naive.jsonl")
    done = evenhand("report", "naive.jsonl", "link.jsonl", "-o", "r.html")
    assert (done.code, (tmp_path / "r.html").exists()) == (2, False)
    assert "named twice" in done.err


def test_what_cannot_be_compared_is_refused_before_anything_is_sent(evenhand, rated, tmp_path):
    judge = rated([50, 50, 50, 50])
    judge("-o", "evidence.jsonl")
    for arguments, words in [
        (("evidence.yaml", "--naive", "evidence.jsonl"), "it holds no record of a judge of protocol number"),
        (("number.yaml", "--naive", "naive.jsonl"), "is a judge of protocol number"),
        (("evidence.yaml", "--naive", "none.jsonl"), "none.jsonl"),
        (("evidence.yaml", "--naive", "naive.jsonl", "-o", "naive.jsonl"), "is naive.jsonl itself"),
    ]:
        done = evenhand("judge", arguments[0], "items.jsonl", *arguments[1:])
        assert done.code == 2
        assert words in done.err
    assert (tmp_path / "naive.jsonl").read_text().count('"number"') == 4
