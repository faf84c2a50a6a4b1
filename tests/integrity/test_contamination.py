"""C3: every branch of the verdict."""

from evenhand.integrity.contamination import INFORMATION, PATHS, EnvironmentFacts, Observation, contamination_verdict
from evenhand.integrity.verdicts import CriterionVerdict


def seen(**states: str) -> tuple[Observation, ...]:
    """Every way closed, but those named."""
    return tuple(
        Observation(path=path, state=states.get(path.replace(" ", "_"), "closed"))  # type: ignore[arg-type]
        for path in PATHS
    )


def verdict(*observations: Observation, **more: object) -> tuple[str, str]:
    facts = EnvironmentFacts(source="a probe", entered=True, observations=observations)
    found = contamination_verdict(
        facts if not more else EnvironmentFacts(source="s", observations=observations, **more)
    )  # type: ignore[arg-type]
    return found.verdict, found.reason


def test_a_closed_environment_passes() -> None:
    assert verdict(*seen())[0] == "pass"


def test_every_open_way_fails_by_itself_and_is_named() -> None:
    for path in set(PATHS) - set(INFORMATION):
        assert verdict(*seen(**{path.replace(" ", "_"): "open"})) == ("fail", f"open from inside: {path}")


def test_an_open_way_fails_though_another_was_not_measured() -> None:
    assert verdict(*seen(dns="open", tag="not measured"))[0] == "fail"


def test_one_open_sight_outweighs_a_closed_one_of_the_same_way() -> None:
    assert verdict(*seen(), Observation(path="dns", state="open"))[0] == "fail"


def test_a_way_that_was_not_measured_is_never_clean() -> None:
    word, reason = verdict(*seen(reflog="not measured"))
    assert word == "insufficient evidence"
    assert "reflog" in reason
    assert verdict(*(one for one in seen() if one.path != "stash"))[0] == "insufficient evidence"
    assert verdict(*seen(), Observation(path="dns", state="not measured"))[0] == "insufficient evidence"


def test_knowing_the_task_is_no_answer_where_there_is_nowhere_to_look() -> None:
    word, reason = verdict(*seen(task_provenance="open"))
    assert word == "pass"
    assert "task provenance" in reason


def test_a_written_specification_is_unverified() -> None:
    word, reason = verdict(specified=True)
    assert word == "insufficient evidence"
    assert "in writing only" in reason


def test_no_environment_and_an_aborted_probe_are_insufficient() -> None:
    assert verdict()[0] == "insufficient evidence"
    assert verdict(*seen(), entered=True, failure="the probe ran out of time")[0] == "insufficient evidence"
    assert verdict(entered=True, failure="the probe could not be started") == (
        "insufficient evidence",
        "the probe could not be started",
    )


def test_what_was_seen_stands_under_its_way() -> None:
    facts = EnvironmentFacts(
        source="a probe", entered=True, observations=(Observation(path="tag", state="open", detail="v2.1.0"),)
    )
    paths = contamination_verdict(facts).evidence["paths"]
    assert paths["tag"] == {"state": "open", "means": PATHS["tag"], "seen": ["v2.1.0"]}
    assert paths["dns"]["state"] == "not measured"


def test_of_an_open_way_only_what_is_open_is_shown() -> None:
    seen = (
        Observation(path="tag", state="closed", detail="/a: every tag is in HEAD"),
        Observation(path="tag", state="open", detail="/b: v2"),
    )
    facts = EnvironmentFacts(source="a probe", entered=True, observations=seen)
    assert contamination_verdict(facts).evidence["paths"]["tag"]["seen"] == ["/b: v2"]


def in_steps(**steps: EnvironmentFacts) -> CriterionVerdict:
    return contamination_verdict(EnvironmentFacts(source="probes", steps=steps))


def probed(*observations: Observation, **more: object) -> EnvironmentFacts:
    return EnvironmentFacts(source="a probe", entered=True, observations=observations, **more)  # type: ignore[arg-type]


def test_the_worst_step_speaks_and_is_named() -> None:
    found = in_steps(fix=probed(*seen()), review=probed(*seen(dns="open")), close=probed(*seen(stash="not measured")))
    assert (found.verdict, found.reason) == ("fail", "review: open from inside: dns")
    assert [(one["step"], one["verdict"]) for one in found.evidence["steps"]] == [
        ("fix", "pass"), ("review", "fail"), ("close", "insufficient evidence"),
    ]  # fmt: skip
    assert {path: one["state"] for path, one in found.evidence["paths"].items() if one["state"] != "closed"} == {
        "dns": "open", "stash": "not measured",
    }  # fmt: skip


def test_all_steps_closed_is_a_pass_that_says_so_of_each() -> None:
    found = in_steps(fix=probed(*seen()), review=probed(*seen()))
    assert found.verdict == "pass"
    assert found.reason.startswith("fix: all ")
    assert "review: all " in found.reason
    assert found.evidence["verified"] is True


def test_a_step_that_was_not_entered_leaves_every_way_unmeasured() -> None:
    found = in_steps(fix=probed(*seen()), review=EnvironmentFacts(source="p", failure="could not be entered"))
    assert found.verdict == "insufficient evidence"
    assert {one["state"] for one in found.evidence["paths"].values()} == {"not measured"}
    assert found.evidence["entered"] is False
    assert found.evidence["failure"] == "review: could not be entered"


def test_of_many_failing_steps_a_few_are_named_and_all_stand_in_the_evidence() -> None:
    found = in_steps(**{f"step {n}": probed(*seen(dns="open")) for n in range(1, 6)})
    assert found.reason.endswith("; and so in 2 more steps")
    assert len(found.evidence["steps"]) == 5
    assert found.evidence["paths"]["dns"]["seen"] == []


def test_what_was_seen_bears_the_name_of_its_step() -> None:
    key = Observation(path="answer-like file", state="open", detail="/app/key.json")
    found = in_steps(fix=probed(*seen()), review=probed(*seen(), key))
    assert found.evidence["paths"]["answer-like file"]["seen"] == ["review: /app/key.json"]
