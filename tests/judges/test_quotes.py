import doctest
from pathlib import Path

import pytest

from evenhand.errors import InvalidInput
from evenhand.judges import quotes
from evenhand.judges.quotes import COUNTED, GAP_LIMIT, QuotedText, QuoteMatch, counts, find_quote


def said(quote: str, candidate: str, *, fuzzy: float | None = None) -> tuple[str, str | None]:
    """Status, and the original characters that were found."""
    match = find_quote(quote, candidate, fuzzy=fuzzy)
    return match.status, candidate[slice(*match.span)] if match.span else None


# --- exact ---------------------------------------------------------------------------------------------------------


def test_words_of_the_candidate_are_exact_with_their_place():
    assert find_quote("two pumps", "We fitted two pumps.") == QuoteMatch(status="exact", span=(10, 19))


def test_offsets_count_code_points_not_bytes_or_utf16_units():
    assert find_quote("pumps ran", "🚰🚰 İß pumps ran").span == (6, 15)


def test_the_first_place_counts():
    assert find_quote("the pump", "the pump and the pump").span == (0, 8)


def test_the_first_place_that_cuts_nothing_counts():
    assert find_quote("fell 3", "It fell 37 %, then fell 3 more.").span == (19, 25)


def test_an_exact_quotation_folds_nothing(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("folded")

    monkeypatch.setattr(quotes, "fold", refuse)
    assert QuotedText("Ein größerer Teil war “neu”.").find("größerer Teil").status == "exact"


def test_a_candidate_is_folded_once_for_all_quotations(monkeypatch):
    candidate = "A long text about pumps and their “noise”."
    folded = []
    real = quotes.fold

    def counted(text, **settings):
        folded.append(text)
        return real(text, **settings)

    monkeypatch.setattr(quotes, "fold", counted)
    text = QuotedText(candidate)
    for quote in ("LONG TEXT", 'their "noise"', "never said here", "nor was this said"):
        text.find(quote)
    assert folded.count(candidate) == 1


# --- too slight ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "quote",
    [
        "",
        " ",
        "\n\t",
        "\u200b",
        "\u200b\u2060\ufeff",
        "\u00ad\u00ad",
        "e",
        " e ",
        "é",
        "e\u0301",
        "👍🏽",
        "…",
        "...",
        '"."',
        "e\u200b",
        "\u0301\u0301",
        "('",
    ],
)
def test_what_stands_in_every_text_is_absent(quote):
    candidate = (
        "\u200b\u200be é e\u0301 👍🏽 ... … \".\" \u0301\u0301 ('' and \u00ad\u00ad more \n\t \u200b\u2060\ufeff"
    )
    assert find_quote(quote, candidate) == QuoteMatch(status="absent")


@pytest.mark.parametrize(
    ("quote", "candidate", "expected"),
    [
        ("7", " 7\n", ("exact", "7")),
        ("b", "B", ("normalized", "B")),
        (" 好 ", "好", ("exact", "好")),
        ("...", "\t... ", ("exact", "...")),
        ("é", "e\u0301", ("normalized", "e\u0301")),
        ("b", "B.", ("absent", None)),
        ("", "", ("absent", None)),
        ("\u200b", " \u200b", ("absent", None)),
    ],
)
def test_a_slight_quotation_may_be_the_whole_candidate(quote, candidate, expected):
    assert said(quote, candidate) == expected


# --- cuts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quote", "candidate"),
    [
        ("fell 3", "it fell 37 %"),
        ("7 % in May", "fell 37 % in May"),
        ("fell 3", "fell 3.5 points"),
        ("5 points", "fell 3.5 points"),
        (".5 points", "fell 3.5 points"),
        ("cost 1", "cost 1,250 euros"),
        ("250 euros", "cost 1,250 euros"),
        ("cost 1", "cost 1\u202f250 euros"),
        ("250 euros", "cost 1 250 euros"),
        ("cost 1", "cost 1'250 francs"),
        ("took 3", "took 3–5 days"),
        ("5 days", "took 3-5 days"),
        ("half 1", "half 1/2 cup"),
        ("at 10", "at 10:30 sharp"),
        ("area 10", "area 10² m"),
        ("times 10", "times 10⁻⁶ m"),
        ("times 10", "times 10^-6 m"),
        ("about 5", "about 5½ cups"),
        ("raised 37", "raised 37k"),
        ("model 4", "model v4 or model4"),
        ("3 degrees", "at −3 degrees"),
        ("3 degrees", "at -3 degrees"),
        ("5 degrees", "at ±5 degrees"),
        ("5 dollars", "lost -$5 dollars"),
        ("fell 3", "fell 3\u00ad7 %"),
        ("fell 3", "fell 3" + "\u200b" * 90 + "7 %"),
        ("三万", "三万五"),
    ],
)
def test_a_number_is_never_cut(quote, candidate):
    assert said(quote, candidate) == ("absent", None)


@pytest.mark.parametrize(
    ("quote", "candidate"),
    [
        ("in 2019", "It began in 2019. Then it grew."),
        ("in 2019", "in 2019, 300 people came"),
        ("5 people", "in 2019—5 people"),
        ("fell 37", "fell 37%"),
        ("4 pumps", "(4 pumps)"),
        ("2019", "2019年に始まった"),
        ("3 apples", "a. 3 apples"),
        ("in week 3", "in week 3 20 people came"),
    ],
)
def test_a_whole_number_may_stand_at_the_end(quote, candidate):
    assert said(quote, candidate) == ("exact", quote)


@pytest.mark.parametrize(
    ("quote", "candidate"),
    [
        ("able", "unable"),
        ("art", "a party"),
        ("reduced", "was unreduced"),
        ("hope", "hopeless"),
        ("able to pay the whole rent", "unable to pay the whole rent"),
        ("profit groups are exempt from it", "non-profit groups are exempt from it"),
        ("the whole procedure was use", "the whole procedure was useless"),
        ("the whole procedure is error", "the whole procedure is error-free"),
        ("The landlord and the tenant do", "The landlord and the tenant don't"),
        ("The landlord and the tenant do", "The landlord and the tenant don’t"),
        ("das gesamte Vorhaben war sinn", "das gesamte Vorhaben war sinnlos"),
        ("cafe", "cafe\u0301"),
        ("great 👨", "great 👨\u200d👩"),
        ("great 👍", "great 👍🏽"),
        ("of", "oﬃce"),
        ("가", "각"),
        ("나가", "나각"),
    ],
)
def test_no_word_is_turned_round_and_no_character_cut(quote, candidate):
    assert said(quote, candidate) == ("absent", None)


@pytest.mark.parametrize(
    ("quote", "candidate"),
    [
        ("the procedure was descri", "the procedure was described"),  # longer, and nothing turned round
        ("John said", "Then John said's"),
        ("the word", "the word 'that' and"),
        ("She asked whether they were in", "She asked whether they were interested"),
        ("less beaked animals may live", "toothless beaked animals may live"),
        ("always treat the ground as wet", "valways treat the ground as wet"),
        ("max_tokens", "self.max_tokens=5"),
        ("今日本", "今日本当に"),
        ("서울", "서울에서"),
        ("the fee", "the fee—less than"),
        ("ไทย", "ภาษาไทยนี้"),
        ("so-called", "the so-called-again"),
        ("word next", "a word next\u200d to"),
    ],
)
def test_other_ends_are_allowed(quote, candidate):
    assert said(quote, candidate) == ("exact", quote)


# --- normalized ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quote", "candidate", "found"),
    [
        ("the pump RAN", "So The Pump ran.", "The Pump ran"),
        ("the  pump\nran", "the pump ran", "the pump ran"),
        ("the pump ran", "the\r\n   pump\u00a0\u2009ran", "the\r\n   pump\u00a0\u2009ran"),
        ("the pump ran", "the pu\u00admp \u200bran\u200b on", "the pu\u00admp \u200bran"),
        ('it\'s "new"', "it’s “new”", "it’s “new”"),
        ("it's 'new'", 'it\'s "new"', 'it\'s "new"'),
        ('dit "mot" et', "dit «\u00a0mot\u00a0» et", "dit «\u00a0mot\u00a0» et"),
        ('sagt "Wort" und', "sagt »Wort« und", "sagt »Wort« und"),
        ('"7" and "8"', "“7” and “8”", "“7” and “8”"),
        ("so-called -3 to 5-7", "so‑called −3 to 5–7", "so‑called −3 to 5–7"),
        ("old -- or new", "old — or new", "old — or new"),
        ("and so on...", "and so on…", "and so on…"),
        ("the final office", "the ﬁnal oﬃce", "the ﬁnal oﬃce"),
        ("Model 37", "Ｍｏｄｅｌ\u3000３７", "Ｍｏｄｅｌ\u3000３７"),
        ("café olé", "cafe\u0301 ole\u0301 x", "cafe\u0301 ole\u0301"),
        ("cafe\u0301 ole\u0301", "café olé x", "café olé"),
        ("a\u0302\u0323b c", "ậb c", "ậb c"),
        ("각서", "\u1100\u1161\u11a8\u1109\u1165", "\u1100\u1161\u11a8\u1109\u1165"),
        ("strasse 4", "STRAßE 4", "STRAßE 4"),
        ("istanbul'da", "İstanbul’da", "İstanbul’da"),
        ("istanbul", "I\u0307stanbul", "I\u0307stanbul"),
        ("x ≤ 80", "x <= 80", "x <= 80"),
        ("ΟΔΟΣ 4", "οδος 4", "οδος 4"),
        ("love ❤", "love ❤\ufe0f so", "love ❤\ufe0f"),
        ("5 kg", "5 ㎏", "5 ㎏"),
        ("x + y", "𝑥 + 𝑦", "𝑥 + 𝑦"),
        ("the ques-tionnaire", "the ques-\ntionnaire", "the ques-\ntionnaire"),
        ("the questionnaire was", "the ques-\n  tionnaire was", "the ques-\n  tionnaire was"),
        ("the questionnaire was", "the ques\u00ad\ntionnaire was", "the ques\u00ad\ntionnaire was"),
        ("well-known pump", "well-\nknown pump", "well-\nknown pump"),
    ],
)
def test_the_same_words_in_another_writing_are_normalized(quote, candidate, found):
    assert said(quote, candidate) == ("normalized", found)


@pytest.mark.parametrize(
    ("quote", "candidate"),
    [
        ("area of 102 m", "area of 10² m"),
        ("10² units", "102 units"),
        ("H2O and", "H₂O and"),
        ("12 cups", "½ cups"),
        ("1/2 cups", "½ cups"),
        ("31/2 cups", "3½ cups"),
        ("1 first", "① first"),
        ("1. first", "⒈ first"),
        ("IV kings", "Ⅳ kings"),
        ("5 m2", "5 ㎡"),
        ("R or C", "ℝ or ℂ"),
        ("No 5", "№ 5"),
        ("23 x", "2\u20623 x"),
        ("resume this", "résumé this"),
        ("6' tall", '6" tall'),
        ("3-5 days", "35 days"),
        ("35 days", "3-\n5 days"),
        ("every day", "everyday"),
        ("5 percent", "5 %"),
        ("93 % of them", "92 % of them"),
        ("ılık su", "ilik su"),
        ("word by word", "word, by word"),
        ("eye signs (ABC)", "eye signs (ABC type)"),
    ],
)
def test_another_reading_or_value_is_absent(quote, candidate):
    assert said(quote, candidate) == ("absent", None)


@pytest.mark.parametrize(
    "quote",
    [
        '"the pump ran"',
        "“the pump ran”",
        "… the pump ran …",
        "...the pump ran...",
        "[...] the pump ran",
        '"...the pump ran…"',
        "'“the pump ran”'",
        "`the pump ran`",
    ],
)
def test_marks_that_the_model_set_around_a_quotation_do_not_matter(quote):
    assert said(quote, "Then the pump ran on.") == ("normalized", "the pump ran")


def test_quotation_marks_around_one_character_leave_it_too_slight():
    assert said('“"a"”', "a banana")[0] == "absent"


@pytest.mark.parametrize(
    ("quote", "candidate"),
    [
        ("so \x0crac{2}{7} + \theta holds", r"so \frac{2}{7} + \theta holds"),
        (r"said \"no\" twice", 'said "no" twice'),
        (r"line one\nline two", "line one\nline two"),
        (r"C:\\new\\table", r"C:\new\table"),
    ],
)
def test_a_slip_in_escaping_is_forgiven(quote, candidate):
    assert said(quote, candidate) == ("normalized", candidate)


# --- elided --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ellipsis", ["...", "…", " … ", "[...]", " […] ", "(...)", " (…) ", " . . . ", "....", "……"])
def test_an_ellipsis_shows_what_it_left_out(ellipsis):
    candidate = "By law the owner may not ever enter the flat alone."
    match = find_quote(f"the owner may{ellipsis}enter the flat", candidate)
    assert match == QuoteMatch(status="elided", span=(7, 44), gap="not ever")


def test_several_gaps_are_shown_together():
    candidate = "the big grey cat sat on the old mat and slept there all day"
    match = find_quote("the big grey ... sat on the ... slept there all", candidate)
    assert match == QuoteMatch(status="elided", span=(0, 55), gap="cat … old mat and")


def test_a_literal_ellipsis_is_no_elision():
    assert said("so we wait ... and see", "so we wait ... and see") == ("exact", "so we wait ... and see")
    assert said("so we wait ... and see", "so we wait… and see") == ("normalized", "so we wait… and see")


@pytest.mark.parametrize(
    "quote",
    [
        "the owner ... enter the flat",  # two words
        "enter the flat ... the owner may",  # the other order
        "the owner may ... enter the house",
        "the owner may ... the owner may",  # one place does not serve twice
    ],
)
def test_pieces_are_long_enough_all_there_and_in_order(quote):
    assert said(quote, "By law the owner may not ever enter the flat alone.")[0] == "absent"


def test_a_long_gap_is_absent_and_a_later_start_with_a_short_one_is_found():
    piece, rest = "the owner may", "enter the flat"
    filler = "x" * (GAP_LIMIT - 1)
    assert said(f"{piece} ... {rest}", f"{piece} {filler} {rest}")[0] == "absent"
    assert find_quote(f"{piece} ... {rest}", f"{piece} {filler} {piece} now {rest}").gap == "now"


def test_pieces_in_scripts_without_spaces_count_two_characters_a_word():
    candidate = "借主は書面による承諾なしに部屋を転貸できない"
    assert find_quote("借主は書面によ…部屋を転貸でき", candidate).gap == "る承諾なしに"
    assert said("借主は…部屋を", candidate)[0] == "absent"


def test_pieces_do_not_cut_numbers():
    assert said("it fell by 3 ... in the south", "it fell by 37 % in the south")[0] == "absent"


# --- fuzzy ---------------------------------------------------------------------------------------------------------

REPORT = (
    "The board met. Sales rose 37 % in the north and fell 13 % in the south; fees were not reduced by the new form."
)


def test_a_typing_error_is_fuzzy_only_where_asked():
    quote = "Sales rose 37 % in the nortth and fell 13 % in the south"
    assert said(quote, REPORT)[0] == "absent"
    assert said(quote, REPORT, fuzzy=0.9) == ("fuzzy", "Sales rose 37 % in the north and fell 13 % in the south")


def test_exact_words_stay_exact_where_fuzzy_is_allowed():
    assert said("fees were not reduced", REPORT, fuzzy=0.5)[0] == "exact"


@pytest.mark.parametrize("threshold", [0.01, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98])
@pytest.mark.parametrize(
    ("quote", "candidate"),
    [
        ("Sales rose 31 % in the north and fell 13 % in the south", REPORT),
        ("Sales rose 13 % in the north and fell 37 % in the south", REPORT),
        ("Sales rose 3.7 % in the north and fell 13 % in the south", REPORT),
        ("Sales rose -37 % in the north and fell 13 % in the south", REPORT),
        ("Sales rose 37 in the north and fell 13 % in the south", REPORT),
        ("fees were reduced by the new form", REPORT),
        ("fees were not not reduced by the new form", REPORT),
        ("the tenant could pay the whole rent", "the tenant couldn't pay the whole rent"),
        ("the tenant can pay the whole rent", "the tenant cannot pay the whole rent"),
        ("the tenant was able to pay the rent", "the tenant was unable to pay the rent"),
        ("this was a painful step for them", "this was a painless step for them"),
        ("they will increase the yearly rent", "they will decrease the yearly rent"),
        ("der Mieter hat die Miete gezahlt", "der Mieter hat die Miete nicht gezahlt"),
        ("le locataire a payé son loyer", "le locataire n'a pas payé son loyer"),
        ("el inquilino pagó todo el alquiler", "el inquilino no pagó todo el alquiler"),
        ("жилец заплатил за всю квартиру", "жилец не заплатил за всю квартиру"),
        ("seven of the pumps were replaced", "eleven of the pumps were replaced"),
        ("the load was ≥ 80 tonnes in all", "the load was ≤ 80 tonnes in all"),
        ("an area of 102 m in all of it", "an area of 10² m in all of it"),
    ],
)
def test_a_changed_number_or_negation_is_never_fuzzy(quote, candidate, threshold):
    assert said(quote, candidate, fuzzy=threshold)[0] == "absent"


def test_a_fuzzy_span_covers_whole_words():
    status, words = said("weird borad met toda", "Oddly a weird board met today, they say.", fuzzy=0.8)
    assert (status, words) == ("fuzzy", "weird board met today")


def test_short_quotations_are_never_fuzzy():
    assert said("nortth and", REPORT, fuzzy=0.5)[0] == "absent"


@pytest.mark.parametrize("threshold", [0, -0.1, 1.01, 80, float("nan")])
def test_a_threshold_outside_its_range_is_refused(threshold):
    with pytest.raises(InvalidInput, match="give a ratio above 0"):
        find_quote("x y z", "x y", fuzzy=threshold)


# --- what counts, and what it may cost -----------------------------------------------------------------------------


def test_only_exact_and_normalized_count_unless_fuzzy_is_asked_for():
    statuses = ("exact", "normalized", "elided", "fuzzy", "absent")
    assert [counts(status) for status in statuses] == [True, True, False, False, False]
    assert [counts(status, fuzzy=True) for status in statuses] == [True, True, False, True, False]
    assert frozenset({"exact", "normalized"}) == COUNTED


class Searched(str):
    """A text that counts the characters its searches compare at places found."""

    compared = 0

    def find(self, quote, *bounds):
        place = super().find(quote, *bounds)
        self.compared += len(quote) if place >= 0 else 0
        return place


@pytest.mark.parametrize("size", [1_000, 30_000, 300_000])
@pytest.mark.parametrize(("unit", "share"), [("1", 2), ("1", 100), ("ab", 3), ("7 ", 2), ("ж", 9)])
def test_a_text_that_repeats_itself_costs_a_few_passes(size, unit, share):
    text = Searched(unit * (size // len(unit)))
    quote = text[1 : size // share]
    list(quotes._uncut(text, quote + "x"))
    for _ in zip(quotes._uncut(text, quote), range(1), strict=False):
        pass
    assert text.compared <= 5 * size + 2_000_000


@pytest.mark.parametrize(
    ("quote", "candidate"),
    [
        ("1" * 150_000, "1" * 300_000),
        ("the the the ... " * 7 + "the the cat", "the " * 75_000),
        ("... " * 100_000, "the pump ran " * 20_000),
        ("so it goes ... " * 20_000, "so it goes and " * 20_000),
        ("b" + "\u0323\u0301" * 100_000, "a" + "\u0301\u0323" * 100_000),
        ("no pe", "no" + "\u200b" * 300_000 + "pe"),
        ("a c b", "a" + " \n" * 150_000 + "b"),
        ("." * 200_000 + "x", "." * 300_000),
        ("-" * 200_000 + "x", "- \n" * 100_000),
        ("\\" * 200_001 + "n", "\\" * 300_000),
    ],
)
def test_hostile_texts_are_absent_and_do_not_hang(quote, candidate):
    assert find_quote(quote, candidate, fuzzy=0.9).status == "absent"


def test_the_examples_of_the_page_hold(root: Path):
    failed, tried = doctest.testfile(str(root / "docs" / "quotes.md"), module_relative=False, encoding="utf-8")
    assert tried > 2
    assert failed == 0
