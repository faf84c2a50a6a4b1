"""Reachability of held-out checks, measured with real implementations in the real sandbox."""

import json
from dataclasses import replace

import pytest

from evenhand.audit.implementations import Implementation, ReadImplementations, generated, read_implementations
from evenhand.audit.reach import ReachSettings, measure_reach
from evenhand.audit.suites import Check, TaskChecks, read_tasks
from evenhand.errors import InvalidInput, SandboxError
from evenhand.integrity.degenerate import task_verdict
from evenhand.sandbox import CheckResult, Sandbox, SuiteRun

RIGHT = "def absolute(x):\n    return x if x >= 0 else -x\n"
TASK = TaskChecks(
    task="t",
    entry_point="absolute",
    visible=(Check(id="v0", args=(3,), expected=3), Check(id="v1", args=(-3,), expected=3)),
    held_out=(
        Check(id="h0", args=(-5,), expected=5),
        Check(id="h1", args=(0,), expected=0),
        Check(id="h2", args=(3,), expected=3),
    ),
    absolute=1e-6,
    row={"canonical_solution": RIGHT},
)
QUICK = ReachSettings(check_s=2.0)


@pytest.fixture(scope="module")
def box():
    try:
        with Sandbox() as opened:
            yield opened
    except SandboxError as error:
        pytest.skip(f"needs a sandbox: {error}")


def one(code, kind="llm", name=None):
    return Implementation(task="t", id=name or code[:40], kind=kind, code=f"def absolute(x):\n    {code}\n")


def reach_of(box, *implementations, task=TASK, settings=QUICK):
    (found,) = measure_reach([task], implementations, settings, box)
    return found


ROOTS = TaskChecks(
    task="t",
    entry_point="absolute",
    visible=(Check(id="v0", args=([1, 2],), expected=-0.5),),
    held_out=(Check(id="h0", args=([-6, 11, -6, 1],), expected=0.9999999999999999),),
    absolute=1e-6,
    row={},
    comparison="poly_root",
)
ANOTHER_ROOT = "return -0.5 if len(x) == 2 else 3.0"


def test_any_root_will_do_where_the_comparison_asks_for_a_root(box):
    found = reach_of(box, one(ANOTHER_ROOT, name="another root"), one("return -0.5", name="no root"), task=ROOTS)
    assert found.witnesses == {"h0": {"llm": "no root"}}
    by_value = reach_of(box, one(ANOTHER_ROOT, name="another root"), task=replace(ROOTS, comparison="equal"))
    assert by_value.witnesses == {"h0": {"llm": "another root"}}


def test_a_comparison_that_is_not_known_is_named_and_nothing_is_compared_by_another(box):
    notes: list[str] = []
    settings = replace(QUICK, generate=True)
    (found,) = measure_reach([replace(ROOTS, comparison="judge_says")], [one("return -0.5")], settings, box,
                             note=notes.append)  # fmt: skip
    assert found.by_kind == {"llm": ()}
    assert found.not_counted == {"of a task whose comparison is not known": 1}
    verdict = task_verdict(found)
    assert verdict.verdict == "insufficient evidence"
    assert "the comparison 'judge_says' is none of equal, isclose, poly_root" in verdict.reason
    assert any("judge_says" in note for note in notes)


def test_a_witness_passes_every_visible_check_and_fails_this_one(box):
    found = reach_of(
        box,
        one("return 3", name="constant"),
        one("return abs(x)", name="right"),
        one("return x", name="fails a visible check"),
        one("return abs(x) if x in (3, -3) else None", "special", name="lookup"),
    )
    assert found.by_kind == {"llm": ("h0", "h1"), "special": ("h0", "h1")}
    assert found.witnesses == {
        "h0": {"llm": "constant", "special": "lookup"},
        "h1": {"llm": "constant", "special": "lookup"},
    }
    assert found.reachable == ("h0", "h1")
    assert found.unreachable == ("h2",)
    assert found.repeats == ("h2",)
    assert found.implementations == {"llm": 3, "special": 1}
    assert found.incorrect == {"llm": 1, "special": 1}
    assert found.not_counted == {"failed a visible check": 1}
    assert found.subset == ("h0",)
    assert task_verdict(found).verdict == "pass"


def test_an_exception_and_an_exit_reach_and_what_depends_on_the_machine_does_not(box):
    found = reach_of(
        box,
        one("return abs(x) if x else 1 // 0", name="raises"),
        one("return abs(x) if x != -5 else exit(0)", name="exits"),
        one("\n    while x == 0: pass\n    return abs(x)", name="hangs on a held-out check"),
        one("return abs(x) if x else [0] * 10**10", name="memory"),
    )
    assert found.witnesses == {"h0": {"llm": "exits"}, "h1": {"llm": "raises"}}


def test_a_time_out_on_a_visible_check_and_what_does_not_load_are_named_and_not_counted(box):
    found = reach_of(
        box,
        one("\n    while True: pass", name="never ends"),
        Implementation(task="t", id="no python", kind="llm", code="def absolute(x:\n"),
        Implementation(task="t", id="null byte", kind="llm", code="\x00"),
        Implementation(task="t", id="other name", kind="llm", code="def abs2(x): return x"),
    )
    assert found.by_kind == {"llm": ()}
    assert found.not_counted == {
        "timed out on a visible check": 1, "did not load (exception)": 2, "did not load (no entry point)": 1,
    }  # fmt: skip
    assert task_verdict(found).verdict == "insufficient evidence"


def test_who_is_wrong_by_another_value_each_time_is_a_witness(box):
    coin = "import random\n    return abs(x) if x in (3, -3) else random.random() * 1e9"
    always = reach_of(box, one(coin, name="always wrong"))
    assert always.witnesses["h0"] == {"llm": "always wrong"}  # wrong by another value each time, and wrong each time


class Unsteady:
    """A sandbox whose candidate is wrong on held-out checks the first time that they are run, and right after that."""

    def __init__(self):
        self.seen = set()

    def run_suites(self, jobs, limits, *, slots):
        right = {check.id: check.expected for check in (*TASK.visible, *TASK.held_out)}
        for job in jobs:
            suite = tuple(check.id for check in job.checks)
            wrong = suite not in self.seen and suite[0] == "h0"
            self.seen.add(suite)
            results = [CheckResult(id=one, status="value", value=None if wrong else right[one]) for one in suite]
            yield job, SuiteRun(results=tuple(results), load="loaded")


def test_who_fails_once_and_not_again_is_no_witness():
    found = reach_of(Unsteady(), one("return abs(x)", name="unsteady"))
    assert (found.reachable, found.by_kind, found.incorrect, found.not_counted) == ((), {"llm": ()}, {}, {})


def test_an_answer_that_claims_to_equal_everything_is_wrong(box):
    code = "\n    class Yes:\n        __eq__ = lambda self, other: True\n    return abs(x) if x in (3, -3) else Yes()"
    assert reach_of(box, one(code, name="yes")).reachable == ("h0", "h1")


def test_lookup_tables_are_made_and_reported_apart_and_are_not_enough(box):
    settings = replace(QUICK, generate=True, most_mutants=0)
    found = reach_of(box, settings=settings)
    assert found.by_kind == {"memoriser": ("h0", "h1")}
    assert found.witnesses["h0"] == {"memoriser": "made here: memoriser"}
    assert found.subset == ()
    assert (task_verdict(found).verdict, task_verdict(found).reason) == (
        "insufficient evidence", "only memorisers reach a held-out check",
    )  # fmt: skip


def test_mutants_are_made_of_the_tasks_own_solution_if_that_is_right(box):
    settings = replace(QUICK, generate=True)
    near = replace(TASK, held_out=(*TASK.held_out, Check(id="h3", args=(-1,), expected=1)))
    found = reach_of(box, task=near, settings=settings)
    assert found.implementations["mutant"] > 3
    assert found.by_kind["mutant"] == ("h3",)  # by x >= -1 in the place of x >= 0
    assert found.witnesses["h3"]["mutant"].endswith("line 2: 0 as -1")
    notes = []
    wrong = replace(TASK, row={"canonical_solution": "def absolute(x):\n    return 3\n"})
    (found,) = measure_reach([wrong], [], settings, box, note=notes.append)
    assert found.implementations == {"memoriser": 1}
    assert "no mutants: its own solution is not right by its own checks (it fails h0)" in "\n".join(notes)


def test_the_solution_may_be_a_body_after_a_prompt_or_missing():
    whole = replace(TASK, row={"prompt": "def absolute(x):\n", "canonical_solution": "    return abs(x)\n"})
    made, missing = generated(whole, most=5, seed=0)
    assert missing == ""
    assert [one.kind for one in made] == ["memoriser", "mutant", "mutant"]
    assert (
        generated(replace(TASK, row={}), most=5, seed=0)[1]
        == "no mutants: the task gives no solution (canonical_solution)"
    )


def test_the_figures_of_the_first_published_tasks_are_reproduced(box, shared):
    folder = shared / "data" / "integrity"
    oracle = json.loads((folder / "code_oracle.json").read_text())
    tasks = read_tasks(folder / "code_tasks.jsonl")[:6]
    read = read_implementations(folder / "code_candidates.jsonl", [task.task for task in tasks])
    found = measure_reach(tasks, read.implementations, QUICK, box)
    assert {one.task: set(one.reachable) for one in found} == {
        task.task: set(oracle[task.task]["witness"]) for task in tasks
    }
    assert [len(one.by_kind.get("llm", ())) for one in found] == [oracle[t.task]["n_reachable_llm_only"] for t in tasks]


# --- files ---------------------------------------------------------------------------------------------------------


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_rows_of_other_tasks_are_counted_and_kinds_and_ids_filled_in(tmp_path):
    path = write(tmp_path / "c.jsonl", {"task_id": "t", "code": "a"}, {"task_id": "u", "code": "b"},
                 {"task_id": "t", "code": "c", "candidate_id": "x", "kind": "llm"})  # fmt: skip
    read = read_implementations(path, ["t"])
    assert read == ReadImplementations(
        implementations=(
            Implementation(task="t", id="ca978112ca1b", kind="given", code="a"),
            Implementation(task="t", id="x", kind="llm", code="c"),
        ),
        n_other_tasks=1,
    )
    assert {one.kind for one in read_implementations(path, ["t"], "natural error").implementations} == {"natural error"}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"task_id": "t", "code": 3}], r"c\.jsonl line 1: code is .*3.*; expected the text of a whole module"),
        ([{"task_id": "t"}], r"line 1: code is nothing; expected the text of a whole module"),
        ([{"code": "a"}], r"line 1: column .*task_id.* holds nothing"),
        ([{"task_id": "t", "code": "a", "candidate_id": 1}, {"task_id": "t", "code": "b", "candidate_id": "1"}],
         r"line 2: the implementation .*1.* stands in .*line 1 already; ids must differ"),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_used_is_named(tmp_path, rows, said):
    with pytest.raises(InvalidInput, match=said):
        read_implementations(write(tmp_path / "c.jsonl", *rows), ["t"])


def test_a_python_file_is_one_implementation_of_the_only_task(tmp_path):
    path = tmp_path / "wrong.py"
    path.write_bytes(b"def absolute(x): return '\xff'")
    (read,) = read_implementations(path, ["t"], "lazy").implementations
    assert (read.id, read.kind, read.code[:12]) == ("wrong.py", "lazy", "def absolute")
    with pytest.raises(InvalidInput, match="there are 2; give rows with task_id and code"):
        read_implementations(path, ["t", "u"])
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_implementations(tmp_path / "none.py", ["t"])


@pytest.mark.parametrize("said", ["memoriser", " Memoriser ", "MEMORIZER"])
def test_a_given_lookup_table_is_one_however_its_kind_is_spelt(tmp_path, said):
    rows = [{"task_id": "t", "code": "a", "kind": said}, {"task_id": "t", "code": "b", "kind": " llm "}]
    found = read_implementations(write(tmp_path / "c.jsonl", *rows), ["t"])
    assert [one.kind for one in found.implementations] == ["memoriser", "llm"]
    found = read_implementations(write(tmp_path / "c.jsonl", rows[0]), ["t"], said)
    assert found.implementations[0].kind == "memoriser"


def test_checks_are_kept_for_a_given_implementation_that_is_called_as_one_made_here(box):
    given = one("return abs(x) if x else 1", name="made here: mutant 0")
    other = one("return 3", name="made here: mutant 0", kind="other")
    assert reach_of(box, given, other).subset == ("h1",)
    assert reach_of(box, other, given).subset == ("h1",)
