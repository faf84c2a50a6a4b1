"""C2: every branch of the verdict, and what the evidence shows beside it."""

from dataclasses import replace

import pytest

from evenhand.errors import InvalidInput
from evenhand.integrity.channel import ChannelFacts, ControlResult, channel_verdict
from evenhand.integrity.verdicts import Word


def controls(
    right: int = 20, wrong: int = 20, *, refused: int = 0, let_in: int = 0, lost: int = 0
) -> tuple[ControlResult, ...]:
    """Known-correct and known-incorrect controls; `refused` and `let_in` are decided wrongly, `lost` not graded."""
    return (
        *(ControlResult(item=f"i{n}", control="gold", expected="accept",
                        got="not graded" if n < lost else "rejected" if n < lost + refused else "accepted")
          for n in range(right)),
        *(ControlResult(item=f"i{n}", control="other_gold", expected="reject",
                        got="accepted" if n < let_in else "rejected")
          for n in range(wrong)),
    )  # fmt: skip


SOUND = ChannelFacts(kind="command", source="40 controls", independent=True, controls=controls())


def word(**change: object) -> tuple[Word, str]:
    found = channel_verdict(replace(SOUND, **change), "mathematics")  # type: ignore[arg-type]
    return found.verdict, found.reason


def test_twenty_of_either_kind_decided_rightly_pass() -> None:
    assert word() == (
        "pass",
        "20 of 20 known-correct controls were accepted and 20 of 20 known-incorrect ones rejected",
    )


def test_nineteen_of_either_kind_are_insufficient() -> None:
    assert word(controls=controls(right=19))[0] == "insufficient evidence"
    assert word(controls=controls(wrong=19))[0] == "insufficient evidence"


def test_what_could_not_be_graded_is_no_control() -> None:
    found, reason = word(controls=controls(lost=1))
    assert found == "insufficient evidence"
    assert "19 known-correct" in reason
    assert "1 and 0 could not be" in reason


def test_one_wrong_decision_fails_without_a_tolerance_however_few_there_are() -> None:
    assert word(controls=controls(refused=1))[0] == "fail"
    assert word(controls=controls(let_in=1))[0] == "fail"
    found, reason = word(controls=controls(right=1, wrong=1, refused=1))
    assert found == "fail"
    assert "1 of 1 known-correct control was rejected (gold 1)" in reason


def test_a_declared_tolerance_is_read_as_a_share_of_either_kind() -> None:
    assert word(controls=controls(refused=1, let_in=1), tolerance=0.05)[0] == "pass"
    assert "within the declared tolerance of 0.05" in word(controls=controls(refused=1), tolerance=0.05)[1]
    assert word(controls=controls(refused=2), tolerance=0.05)[0] == "fail"


def test_a_tolerance_that_is_no_share_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"1\.5"):
        word(tolerance=1.5)


def test_the_judges_own_signal_fails_and_an_unstated_one_is_insufficient() -> None:
    assert word(independent=False)[0] == "fail"
    assert word(independent=None)[0] == "insufficient evidence"
    assert word(independent=None, controls=controls(let_in=1))[0] == "fail"


def test_places_the_candidate_can_write_void_the_controls_but_excuse_no_wrong_one() -> None:
    found, reason = word(writable=("/logs/reward.txt",))
    assert found == "insufficient evidence"
    assert "/logs/reward.txt" in reason
    assert word(writable=("/logs/reward.txt",), controls=controls(let_in=1))[0] == "fail"


def test_without_a_channel_the_evidence_is_insufficient() -> None:
    assert word(kind="")[0] == "insufficient evidence"


def test_a_subjective_task_is_not_applicable() -> None:
    assert channel_verdict(SOUND, "subjective").verdict == "not applicable"


def test_probes_are_reported_and_decide_nothing() -> None:
    probe = ControlResult(item="i0", control="superset", expected=None, got="accepted")
    found = channel_verdict(replace(SOUND, controls=(*controls(), probe)), "factual")
    assert found.verdict == "pass"
    assert found.evidence["by_control"][-1]["role"] == "probe"
    assert found.evidence["by_control"][-1]["accepted"]["value"] == 1.0


@pytest.mark.parametrize("feedback", ["held_out", "exposed", "unknown"])
def test_the_feedback_status_is_recorded_and_changes_no_verdict(feedback: str) -> None:
    found = channel_verdict(replace(SOUND, feedback=feedback), "code")  # type: ignore[arg-type]
    assert (found.verdict, found.evidence["feedback"]) == ("pass", feedback)


def test_shares_have_n_failures_and_exact_intervals_and_the_blind_channels_stand_beside_them() -> None:
    evidence = channel_verdict(replace(SOUND, controls=controls(lost=2, let_in=1)), "code").evidence
    right, wrong = evidence["known_correct_accepted"], evidence["known_incorrect_accepted"]
    assert (right["successes"], right["n"], right["failed"]) == (18, 18, 2)
    assert right["low"] == pytest.approx(0.025 ** (1 / 18))
    assert (wrong["successes"], wrong["n"]) == (1, 20)
    always = evidence["an_always_pass_channel_would_show"]
    assert always["known_correct_accepted"]["value"] == always["known_incorrect_accepted"]["value"] == 1.0
    never = evidence["an_always_fail_channel_would_show"]
    assert never["known_correct_accepted"]["value"] == never["known_incorrect_accepted"]["value"] == 0.0
