"""What candidates and models wrote is data on its way to a terminal, never a command to it."""

import json

from evenhand.cli.output import json_text, shown

OBEYED = "\x1b]0;x\x07 \x9b31m \u202eevil\u2066 \u200f \u2028 \x85"


def test_json_for_a_terminal_holds_nothing_it_obeys_and_loses_nothing():
    text = json_text({"é": OBEYED, "emoji": "👩\u200d🔬"})
    assert json.loads(text) == {"é": OBEYED, "emoji": "👩\u200d🔬"}
    assert not set("\x1b\x07\x9b\u202e\u2066\u200f\u2028\x85") & set(text)
    assert "é" in text


def test_a_line_for_people_shows_the_same_characters_as_escapes():
    assert not set("\x1b\x07\x9b\u202e\u2066\u200f\u2028\x85") & set(shown(OBEYED))
