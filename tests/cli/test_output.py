"""What candidates and models wrote is data on its way to a terminal, never a command to it."""

import json

from evenhand.analysis.summary import Summary
from evenhand.cli.judge_output import print_summary
from evenhand.cli.output import json_text, shown

OBEYED = "\x1b]0;x\x07 \x9b31m \u202eevil\u2066 \u200f \u2028 \x85"


def test_json_for_a_terminal_holds_nothing_it_obeys_and_loses_nothing():
    text = json_text({"é": OBEYED, "emoji": "👩\u200d🔬"})
    assert json.loads(text) == {"é": OBEYED, "emoji": "👩\u200d🔬"}
    assert not set("\x1b\x07\x9b\u202e\u2066\u200f\u2028\x85") & set(text)
    assert "é" in text


def test_a_line_for_people_shows_the_same_characters_as_escapes():
    assert not set("\x1b\x07\x9b\u202e\u2066\u200f\u2028\x85") & set(shown(OBEYED))


def test_what_was_sent_stays_within_eighty_columns_and_a_fault_beside_its_count(capsys):
    faults = {"deadline": 1234, "provider_overloaded": 3333, "rate_limit": 12, "server_error": 12345, "connection": 44}
    calls = {"asked": 123456, "faults": faults, "stored": 345678}
    document = {**Summary().document(), "flags": {f"criterion_out:criterion_{place}": place for place in range(5)}}
    print_summary("t", document, calls, 4000.0)
    lines = capsys.readouterr().out.split("\n")
    assert max(map(len, lines)) < 80
    start = next(place for place, line in enumerate(lines) if line.startswith("calls"))
    assert lines[start : start + 3] == [
        "calls    123456 sent, of them 16968 faults (deadline 1234,",
        "         provider_overloaded 3333, rate_limit 12, server_error 12345,",
        "         connection 44), 345678 answered from the store; 66 min 40 s",
    ]
    assert "         criterion_out:criterion_2 2, criterion_out:criterion_3 3," in lines
