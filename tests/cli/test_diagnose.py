"""`evenhand diagnose`, as a person and a script run it."""

import json

import pytest


def counted(counts):
    """A table with so many rows of each score, mixed so that no order can be seen."""
    rows = [score for score, n in counts.items() for _ in range(n)]
    mixed = sorted(range(len(rows)), key=lambda k: (k * 7919) % 104729)
    return "item,score\n" + "".join(f"i{k},{rows[k]}\n" for k in mixed)


def diagnosed(evenhand, folder, text, *options, name="s.csv"):
    (folder / name).write_text(text)
    done = evenhand("diagnose", name, "--json", *options)
    assert done.code == 0, done.err
    return done.document


# --- T085: a narrow scale with most scores on two levels, and its siblings -------------------------------------------


def test_two_levels_of_a_declared_short_scale_are_no_collapse_by_themselves(evenhand, tmp_path):
    found = diagnosed(evenhand, tmp_path, counted({0: 1, 1: 3, 2: 31, 3: 25}), "--scale", "0:3")
    assert (found["n"], found["mode"], found["levels_used"], found["verdict"]) == (60, 2, 4, "cannot_tell")
    assert found["mode_share"] == pytest.approx(0.516667, abs=5e-7)
    assert found["mode_share_interval"] == pytest.approx([0.393078, 0.63825], abs=5e-6)
    assert found["top_two_share"] == pytest.approx(0.933333, abs=5e-7)
    assert found["effective_levels"] == pytest.approx(2.51932, abs=5e-6)
    assert found["scale"]["n_levels"] == 4


def test_the_same_shares_of_a_larger_log_are_cleared_where_the_bound_allows(evenhand, tmp_path):
    found = diagnosed(evenhand, tmp_path, counted({0: 100, 1: 200, 2: 450, 3: 350}), "--scale", "0:3")
    assert found["verdict"] == "not_collapsed"


def test_the_same_log_on_a_longer_scale_uses_too_little_of_it(evenhand, tmp_path):
    found = diagnosed(evenhand, tmp_path, counted({0: 100, 1: 200, 2: 450, 3: 350}), "--scale", "0:10")
    assert found["verdict"] == "cannot_tell"
    assert "levels are in effective use" in " ".join(found["reasons"])


def test_two_levels_of_a_short_scale_beside_humans_that_use_all_have_collapsed(evenhand, tmp_path):
    rows = "".join(f"i{k},{2 + (k % 9 == 0)},{k % 4}\n" for k in range(60))
    found = diagnosed(evenhand, tmp_path, f"item,score,human\n{rows}", "--scale", "0:3")
    assert found["verdict"] == "collapsed"


# --- T087: a log whose scale changes, and its siblings ----------------------------------------------------------------


@pytest.mark.shared
def test_a_log_whose_scale_changes_is_cut_and_not_rescaled(evenhand, shared):
    path = shared / "data" / "cases" / "files" / "T087" / "log-rescaled.csv"
    if not path.is_file():
        pytest.skip(f"needs the shared cases: there is no {path}")
    found = evenhand("diagnose", path, "--scale", "1:5", "--json").document
    assert found["counts"]["out_of_scale"] == 80
    assert [change["after_row"] for change in found["change_points"]] == [119]
    assert [part["mode_share"] for part in found["series"]["segments"]] == pytest.approx([0.733333, 0.7125], abs=5e-7)
    assert found["with_out_of_scale"]["mode_share"] == 0.44
    assert (found["n"], found["mode"]) == (120, 4)
    out = " ".join(evenhand("diagnose", path, "--scale", "1:5").out.split())
    assert "after row 119 (line 121) 100 % of scores move" in out
    assert "nothing is rescaled" in out


def test_a_log_that_goes_from_percent_to_marks_is_cut_too(evenhand, tmp_path):
    rows = [20 * (3 + k % 3) for k in range(70)] + [3 + k % 3 for k in range(90)]
    found = diagnosed(evenhand, tmp_path, "score\n" + "\n".join(map(str, rows)), "--scale", "0:100")
    assert [change["after_row"] for change in found["change_points"]] == [69]
    assert found["counts"]["out_of_scale"] == 0


def test_a_log_that_is_reversed_at_some_row_is_cut_though_nothing_leaves_the_scale(evenhand, tmp_path):
    rows = [5 - k % 5 // 2 for k in range(100)] + [1 + k % 5 // 2 for k in range(100)]
    found = diagnosed(evenhand, tmp_path, "score\n" + "\n".join(map(str, rows)), "--scale", "1:5")
    assert [change["after_row"] for change in found["change_points"]] in ([98], [99])  # row 99 has a score of both


def test_a_code_for_failure_off_the_scale_is_counted_and_never_averaged(evenhand, tmp_path):
    rows = [4 if k % 3 else -1 for k in range(90)]
    found = diagnosed(evenhand, tmp_path, "score\n" + "\n".join(map(str, rows)), "--scale", "1:5")
    assert (found["counts"]["out_of_scale"], found["n"], found["mean"], found["mode_share"]) == (30, 60, 4, 1)
    assert found["change_points"] == []


# --- what it prints -------------------------------------------------------------------------------------------------


def test_a_person_sees_which_judge_collapsed_within_eighty_columns(evenhand, tmp_path):
    rows = "".join(f"i{k},{'flat' if j else 'wide'},{7 if j else 1 + k % 10}\n" for k in range(60) for j in (0, 1))
    (tmp_path / "s.csv").write_text(f"item,judge,score\n{rows}")
    out = evenhand("diagnose", "s.csv", "--scale", "1:10").out
    assert all(len(line) <= 80 for line in out.splitlines())
    table = [line.split() for line in out.splitlines() if line.startswith(("flat", "wide"))]
    assert [(row[0], row[-1]) for row in table] == [("flat", "COLLAPSED"), ("wide", "no")]
    assert "verdict  of 2 judges 1 collapsed (flat), 1 did not" in " ".join(out.split("\n"))


def test_what_a_file_says_cannot_reach_the_terminal(evenhand, tmp_path):
    rows = "".join(f'"i{k}","\x1b[31mj\u202e{k % 2}",{1 + k % 5}\n' for k in range(60))
    (tmp_path / "s.csv").write_text(f'item,judge,score\n{rows}"x","y","\x1b[2Jno"\n')
    out = evenhand("diagnose", "s.csv").out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\\x1b[31mj" in out
    assert "\x1b" not in evenhand("diagnose", "s.csv", "--json").out


def test_the_keys_that_others_rely_on_are_there(evenhand, tmp_path):
    found = diagnosed(evenhand, tmp_path, "item,judge,score\na,x,3\nb,y,4\n")
    keys = {"n", "failed", "mode", "mode_share", "mode_share_interval", "effective_levels", "verdict"}
    assert keys | {"by_judge"} <= set(found)
    assert keys <= set(found["by_judge"]["x"])


@pytest.mark.parametrize(
    ("text", "n"),
    [("score\n7\n", 1), ("item,score\na,\nb,\n", 0), ("score\n" + "7\n" * 50, 50), ("score,error\n0,e\n", 0)],
)
def test_one_score_none_and_a_constant_are_said_and_not_guessed(evenhand, tmp_path, text, n):
    found = diagnosed(evenhand, tmp_path, text)
    assert (found["n"], found["verdict"]) == (n, "cannot_tell")
    assert found["mode_share"] is None if n == 0 else found["mode_share"] == 1
    assert (found["undefined"] is None) == (n > 0)
    assert evenhand("diagnose", "s.csv").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scale", "5:1"], "--scale 5:1: expected the two ends of the scale, lower first, such as 1:10"),
        (["--scale", "nan:5"], "--scale nan:5: expected the two ends"),
        (["--human-scale", "five"], "--human-scale five: expected the two ends"),
        (["--period", "day"], "--period day: s.csv has no times; name their column with --time"),
        (["--score", "nope"], "--score 'nope': no such column; it has 'item', 'score'"),
    ],
)
def test_a_wrong_call_is_one_sentence_and_exit_2(evenhand, tmp_path, options, message):
    (tmp_path / "s.csv").write_text("item,score\na,3\n")
    done = evenhand("diagnose", "s.csv", *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_records_of_evenhand_are_diagnosed_on_their_own_scale(evenhand, tmp_path):
    judge = {"name": "j", "hash": "sha256:" + "0" * 64, "protocol": "number", "protocol_version": 1, "models": ["m"]}
    plain = {
        "schema": "evenhand.record/1", "item_hash": judge["hash"], "metadata": {}, "judge": judge, "member": "m",
        "rerun": 0, "status": "verdict", "scale": [1, 5],
    }  # fmt: skip
    lines = [json.dumps({**plain, "item": f"i{k}", "score": 1 + k % 5}) for k in range(60)]
    cause = {"code": "empty", "message": "no text", "raw_key": None}
    lines.append(json.dumps({**plain, "item": "x", "status": "failed", "score": None, "cause": cause}))
    found = diagnosed(evenhand, tmp_path, "\n".join(lines), name="r.jsonl")
    assert (found["n"], found["failed"], found["verdict"]) == (60, 1, "not_collapsed")
    assert (found["scale"]["low"], found["scale"]["high"], found["scale"]["declared"]) == (1, 5, True)


def test_columns_that_were_not_used_are_named_since_one_may_be_the_judge(evenhand, tmp_path):
    rows = "".join(f"gpt,a{k},7\nclaude,a{k},{1 + k % 10}\n" for k in range(20))
    (tmp_path / "log.csv").write_text("model,answer,points\n" + rows)
    done = evenhand("diagnose", "log.csv", "--scale", "1:10")
    assert "not used model, answer (say what they are with --judge, --item, --time, --human)" in " ".join(
        done.out.split()
    )
    assert done.code == 0
    named = evenhand("diagnose", "log.csv", "--scale", "1:10", "--judge", "model", "--item", "answer", "--json")
    assert named.document["unused_columns"] == []
    assert named.document["by_judge"]["gpt"]["mode_share"] == 1.0
