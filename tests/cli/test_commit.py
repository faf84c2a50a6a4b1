"""Judges that accept or reject, through the command: against an endpoint whose model is anchored by what it is shown.

The model solves a sum only if the first number is even. Shown a candidate, it says "correct" to nearly everything;
asked for an answer of its own with the candidate in view, it takes that over where it cannot solve the sum.
"""

import csv
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec

import pytest

from evenhand.store.records import read_records

N = 24  # questions; each has a right and a wrong candidate
SUM = re.compile(r"What is (\d+) \+ (\d+)\?")
CANDIDATE = re.compile(r"CANDIDATE BEGINS[^\n]*\nI make it (\d+)\.")


def answered(messages):
    """What the model replies."""
    system, user = messages[0]["content"], messages[1]["content"]
    if "bread" in user:
        return {"work": "300 / .6", "answer": "500", "reason": "It is about bread.", "verdict": "incorrect"}
    first, second = map(int, SUM.search(user).groups())
    shown = CANDIDATE.search(user)
    if "you say whether" in system.casefold():
        raise AssertionError("numbers need no model to be compared")
    if '"verdict"' in system:
        strict = "solve the task yourself" in system and first % 12 == 0
        return {"reason": "It looks right.", "verdict": "incorrect" if strict and int(shown[1]) % 2 else "correct"}
    own = first + second if first % 2 == 0 else first + second + 1000
    if shown and first % 2:
        own = int(shown[1])
    return {"work": "I add them.", "answer": f"\\\\frac{{{2 * own}}}{{2}} + 0x" if "expression" in system else str(own)}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        message = {"role": "assistant", "content": json.dumps(answered(body["messages"]))}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        document = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        content = json.dumps({**document, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Nothing is printed."""


@pytest.fixture
def endpoint():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.bodies = []
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


JUDGES = {
    "blind": "protocol: commit\nanswer: number\n",
    "visible": "protocol: commit\nanswer: number\nmode: visible\n",
    "anchored": "protocol: anchored_verdict\n",
    "solve-first": "protocol: solve_first\n",
}


@pytest.fixture
def desk(tmp_path, evenhand, endpoint):
    """desk(command, judges..., more...): runs a command on the sums."""
    for name, text in JUDGES.items():
        (tmp_path / f"{name}.yaml").write_text(f"name: {name}\nmodels: [openai/fake-judge]\n{text}")
    rows = []
    for k in range(N):
        for off in (0, 7):
            total = 2 * k + 3
            task, said = f"What is {k} + {k + 3}?", f"I make it {total + off}."
            rows.append(
                {"id": f"q{k}-{off}", "task": task, "candidate": said, "reference": f"{total}", "right": not off}
            )
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def run(command, *arguments):
        base = f"http://127.0.0.1:{endpoint.server_port}/v1"
        return evenhand(command, *arguments, "--base-url", base)

    return run


@pytest.fixture
def keyed(monkeypatch, evenhand):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


FILES = [f"{name}.yaml" for name in JUDGES]


@pytest.mark.parametrize("truth", [["--truth-by-match"], ["--truth", "right"]])
def test_a_study_shows_what_anchors_a_judge_and_what_does_not(truth, desk, keyed, endpoint, tmp_path):
    more = ["--reruns", 1, "--resamples", 199, "-o", "out", "--json"]
    done = desk("study", *FILES, "items.jsonl", *truth, *more)
    assert done.code == 0, done.err
    found = {one["variant"]: one for one in done.document["acceptance"]}
    assert list(found) == list(JUDGES)
    for one in found.values():
        assert one["solve_accuracy"]["value"] == 0.5
        assert one["solve_accuracy_on_wrong"]["value"] == one["bound"]["value"] == 0.5
        assert (one["solves_from"], one["no_verdict"], one["unknown_truth"]) == ("blind", 0, 0)
        assert one["false_positive_rate"]["n"] == one["accepted_right"]["n"] == N
    rates = {name: (one["false_positive_rate"]["value"], one["accepted_right"]["value"]) for name, one in found.items()}
    assert rates == {"blind": (0, 0.5), "visible": (0.5, 1), "anchored": (1, 1), "solve-first": (1, 22 / 24)}
    assert found["blind"]["discrimination"]["value"] == 0.5
    assert found["anchored"]["discrimination"]["value"] == 0
    assert found["anchored"]["excess"]["value"] == 0.5
    assert {name: one["proves_anchoring"] for name, one in found.items()} == {
        "blind": False, "visible": False, "anchored": True, "solve-first": True,
    }  # fmt: skip
    assert found["visible"]["own_accuracy"]["value"] == 0.75
    gaps = {name: [round(best["gap"]["value"], 4) for best in one["best_of"]] for name, one in found.items()}
    assert gaps == {
        "blind": [-0.5, -0.25],
        "visible": [0, 0.25],
        "anchored": [0, 0.5],
        "solve-first": [-0.0833, 0.5417],
    }
    assert found["anchored"]["best_of"][1]["gap"]["unit"] == "questions"
    with (tmp_path / "out/table.csv").open() as stream:
        rows = {row["variant"]: row for row in csv.DictReader(stream)}
    assert rows["anchored"]["false_positive_rate"] == "1.0"
    assert rows["anchored"]["proves_anchoring"] == "True"
    assert float(rows["blind"]["excess_high"]) <= 0
    page = (tmp_path / "out/report.html").read_text()
    assert "Accepting and solving" in page
    assert "proves anchoring" in page


def test_both_candidates_of_a_question_share_one_blind_commitment_and_no_request_has_a_reference(desk, keyed, endpoint):
    done = desk("judge", "blind.yaml", "items.jsonl", "-o", "r.jsonl", "--json")
    assert done.code == 0, done.err
    assert len(endpoint.bodies) == N
    sent = json.dumps(endpoint.bodies)
    assert "I make it" not in sent
    assert "REFERENCE" not in sent


def test_the_records_name_the_commitment_and_recompute_from_the_store(desk, keyed, evenhand, tmp_path):
    assert desk("judge", "blind.yaml", "items.jsonl", "-o", "r.jsonl").code == 0
    for record in read_records(tmp_path / "r.jsonl"):
        own = record.criteria[0]["own"]
        assert own["key"] in record.keys
        assert own["hash"] == own["commitments"][0]["hash"]
        assert record.criteria[0]["label"] == ("accepted" if own["match"] == "equal" else "rejected")
    done = evenhand("rescore", "r.jsonl", "--check", "--json")
    assert done.code == 0, done.err
    assert done.document["check"] == "pass"


def test_a_changed_commitment_does_not_recompute(desk, keyed, evenhand, tmp_path):
    assert desk("judge", "blind.yaml", "items.jsonl", "-o", "r.jsonl").code == 0
    text = (tmp_path / "r.jsonl").read_text()
    (tmp_path / "r.jsonl").write_text(text.replace('"match":"unequal"', '"match":"equal"', 1))
    assert evenhand("rescore", "r.jsonl", "--check").code == 1


def test_a_dry_run_counts_a_shared_commitment_once(desk, keyed):
    done = desk("judge", "blind.yaml", "items.jsonl", "--dry-run", "--json")
    assert (done.document["calls"], done.document["shared"], done.document["calls_at_most"]) == (N, N, 4 * N)


def test_validate_holds_acceptances_against_pass_and_fail(desk, keyed, evenhand, tmp_path):
    assert desk("judge", "blind.yaml", "items.jsonl", "-o", "r.jsonl").code == 0
    grades = "item,anna\n" + "".join(f"q{k}-{off},{int(not off)}\n" for k in range(N) for off in (0, 7))
    (tmp_path / "g.csv").write_text(grades)
    done = evenhand("validate", "r.jsonl", "--grades", "g.csv", "--resamples", 199, "--json")
    assert done.code == 0, done.err
    passing = done.document["passing"] if "passing" in done.document else done.document["pass_fail"]
    assert passing["table"] == {"true_pass": 12, "false_pass": 0, "false_fail": 12, "true_fail": 24}


def test_the_table_for_people_says_what_the_excess_proves(desk, keyed):
    done = desk("study", "blind.yaml", "anchored.yaml", "items.jsonl", "--truth-by-match", "--reruns", 1,
                "--resamples", 199)  # fmt: skip
    assert done.code == 0, done.err
    assert "anchored: accepts 1.00 of wrong candidates, bound 0.50 (solves of blind)" in done.out
    assert "the excess proves anchoring" in " ".join(done.out.split())
    assert max(len(line) for line in done.out.splitlines()) <= 80


def test_without_a_blind_variant_there_is_no_bound_and_the_way_out_is_said(desk, keyed):
    done = desk(
        "study", "anchored.yaml", "items.jsonl", "--truth", "right", "--reruns", 1, "--resamples", 199, "--json"
    )
    (one,) = done.document["acceptance"]
    assert one["bound"]["value"] is None
    assert "add a variant with protocol: commit, mode: blind" in one["bound"]["undefined"]
    assert one["false_positive_rate"]["value"] == 1


def test_truth_by_match_needs_a_commit_variant_and_one_way_to_match(desk, keyed, tmp_path):
    done = desk("study", "anchored.yaml", "items.jsonl", "--truth-by-match")
    assert done.code == 2
    assert "no variant is `protocol: commit`" in done.err
    (tmp_path / "loose.yaml").write_text("protocol: commit\nmodels: [openai/x]\nanswer: number\ntolerance: 0.1\n")
    done = desk("study", "blind.yaml", "loose.yaml", "items.jsonl", "--truth-by-match")
    assert done.code == 2
    assert "match answers otherwise" in done.err


def test_items_without_a_task_are_refused_before_anything_is_sent(desk, keyed, endpoint, tmp_path):
    (tmp_path / "none.jsonl").write_text('{"id": "a", "candidate": "5"}\n')
    done = desk("judge", "blind.yaml", "none.jsonl")
    assert done.code == 2
    assert "no item has a task" in done.err
    assert not endpoint.bodies


def test_an_attack_in_the_candidate_moves_no_blind_commitment_and_another_task_does(desk, keyed, evenhand, tmp_path):
    rows = (tmp_path / "items.jsonl").read_text().splitlines()[:8]
    (tmp_path / "few.jsonl").write_text("\n".join(rows) + "\n")
    done = desk("harden", "blind.yaml", "few.jsonl", "--json")
    assert done.code in (0, 1), done.err
    (member,) = done.document["members"]
    assert member["attacks"]
    assert all(attack["mean"] <= 0 for attack in member["attacks"])
    controls = {control["kind"]: control for control in member["controls"]}
    assert controls["other_question"]["n"] == 2  # those that were accepted, and could fall


@pytest.mark.skipif(find_spec("math_verify") is None, reason="needs the extra math: math-verify is not installed")
def test_expressions_are_compared_in_a_process_live_and_again_when_rescored(desk, keyed, evenhand, tmp_path):
    (tmp_path / "terms.yaml").write_text(
        "name: terms\nmodels: [openai/fake-judge]\nprotocol: commit\nanswer: expression\n"
    )
    rows = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()[:2]]
    rows = [{**row, "candidate": said} for row, said in zip(rows, ["$2^1 + 1$", "$2^2$"], strict=True)]
    (tmp_path / "few.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = desk("judge", "terms.yaml", "few.jsonl", "-o", "r.jsonl")
    assert done.code == 0, done.err
    assert [record.score for record in read_records(tmp_path / "r.jsonl")] == [1, 0]
    assert evenhand("rescore", "r.jsonl", "--check").code == 0
