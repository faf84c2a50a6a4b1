"""One option out of an answer: `(C)`, `C.`, `option c`, `the answer is C, since ...`; a letter in prose is none."""

import re

from evenhand.matching.answers import LONGEST_SENTENCE, NoAnswer, Passage, Unreadable, asked, first_sentence, taken_back
from evenhand.matching.cleaning import unwrapped_latex
from evenhand.matching.hedging import hedge, negated
from evenhand.matching.rules import MatchRule
from evenhand.matching.texts import plain_text

__all__ = ["choice_answer"]

_LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_LEAD = r"(?:(?:the|my|final|best|correct)\s++){0,3}(?:(?:answer|option|choice|letter)\s*+(?:is\s++|:\s*+)?){0,2}"
_CHOSEN = re.compile(
    r"(?<![A-Za-z])(?:(?:option|choice|letter)|(?:i|we)\s++(?:would\s++)?(?:choose|pick|select|go with)"
    r"|(?:chose|picked|selected|choose|pick|select|going with|go with))\s*+:?\s*+(?:option\s++|choice\s++|letter\s++)?",
    re.IGNORECASE,
)
_AFTER = re.compile(r"(?!\w|'\w)\s*+[)\]}]?")
_ENDS = re.compile(
    r"\s*+(?:$|[.,;:!?)\]}\-\u2014(]|(?:is|because|since|as|for|by|with|due)(?![A-Za-z]))", re.IGNORECASE
)
_ANOTHER = re.compile(
    r"\s*+[)\]}]?\s*+(?:,|/|&|;|\+|[-\u2014>?]+|\u2192|as well as|with|plus|then|to|vs\.?|and|or|no|und|oder)+\s*+"
    r"(?:(?:and|or|no|also|as well as)\s++)?(?:option\s++|choice\s++)?[(\[{]?\s*+"
)


def choice_answer(passage: Passage, rule: MatchRule) -> str | NoAnswer | Unreadable:
    """The label of the one option that a passage names, as the rule writes it."""
    text = unwrapped_latex(passage.text).replace("{", "(").replace("}", ")").strip()
    labels = {label.casefold(): label for label in (rule.choices or _LETTERS)}
    named = _worded(text, rule)
    if named is not None:
        return named
    if _contradicts(text, labels, rule):
        return NoAnswer(reason="names one option and gives the text of another")
    if passage.stated and asked(text):
        return NoAnswer(reason="asks instead of answering")
    if passage.stated:
        sentence = first_sentence(text)
        if sentence is None:
            return NoAnswer(reason="takes its answer back")
        if _lists(text, labels) or _lists_on(text, passage.after, labels):
            return NoAnswer(reason="names several options")
        return _first_label(sentence, labels, lone=True) or _second_form(text, labels, rule)
    if _lists(text, labels):
        return NoAnswer(reason="names several options")
    return _first_label(text.rstrip(), labels, lone=False) or _second_form(text, labels, rule)


def _worded(text: str, rule: MatchRule) -> str | None:
    """The label whose text, alone or behind it, the answer is."""
    plain = plain_text(text) if len(text) <= LONGEST_SENTENCE else ""
    for label, words in zip(rule.choices, rule.choice_texts, strict=False):
        if plain and plain in (plain_text(words), plain_text(f"{label} {words}")):
            return label
    return None


def _contradicts(text: str, labels: dict[str, str], rule: MatchRule) -> bool:
    """Whether the text of one option stands behind the label of another: `B) Paris` where B is Rome."""
    found = _label_at(text, 0, labels) if rule.choice_texts and len(text) <= LONGEST_SENTENCE else None
    if found is None:
        return False
    words = plain_text(text[found[1] :])
    texts = {plain_text(words) for words in rule.choice_texts}
    return words in texts - {plain_text(rule.choice_texts[rule.choices.index(found[0])])}


def _lists(text: str, labels: dict[str, str]) -> bool:
    """Whether a text begins with one label and goes on with another that is marked as one: `A. B.`, `A) x B) y`."""
    lead = re.match(_LEAD, text, re.IGNORECASE)
    first = _label_at(text, lead.end() if lead else 0, labels)
    if first is None or (text[first[1] - 1] != ")" and text[first[1] : first[1] + 1] not in (".", ")", ":")):
        return False
    for found in _MARKED.finditer(text[first[1] : LONGEST_SENTENCE]):
        label = labels.get((found[1] or found[2] or found[3]).casefold())
        if label is not None and label != first[0]:
            return True
    return False


def _lists_on(text: str, after: str, labels: dict[str, str]) -> bool:
    """Whether the next line goes on in the manner of a list of options: `A) x` above `B) y`."""
    here, below = _LISTED.match(text), _LISTED.match(after.removeprefix("\n"))
    if here is None or below is None or labels.get(here[1].casefold()) is None:
        return False
    return labels.get(below[1].casefold()) not in (None, labels[here[1].casefold()])


_LISTED = re.compile(r"[ \t]*+\(?([A-Za-z0-9]{1,2})[).:][ \t]++\S")
_MARKED = re.compile(
    r"(?:^|\s|[.])(?:\(([A-Z0-9]{1,2})\)|([A-Z0-9]{1,2})[):](?=\s|$)|(?<=\. )([A-Z0-9]{1,2})(?=[.]|$))"
)


def _second_form(text: str, labels: dict[str, str], rule: MatchRule) -> str | NoAnswer | Unreadable:
    """`I choose H`, `option c`: the one that is named so, if it is one."""
    found: list[str] = []
    for chosen in _CHOSEN.finditer(text):
        label = _label_at(text, chosen.end(), labels)
        if label is not None:
            clause = _clause_around(text, chosen.start(), label[1])
            if negated(clause) or _DECLINED.search(clause):
                return NoAnswer(reason="says what the answer is not")
            found.append(label[0])
            if _names_another(text, label[1], labels):
                return NoAnswer(reason="names several options")
            if taken_back(text[label[1] :]):
                return NoAnswer(reason="takes its answer back")
    if len(set(found)) == 1:
        return NoAnswer(reason="leaves open which option it names") if hedge(text[:LONGEST_SENTENCE]) else found[0]
    if found:
        return NoAnswer(reason="names several options")
    other = re.fullmatch(r"[(\[]?\s*+([A-Za-z0-9]{1,3})\s*+[)\].:]?", text)
    if other and rule.choices:
        return Unreadable(reason="names an option that is not among the declared ones")
    return NoAnswer(reason="names no option")


def _clause_around(text: str, start: int, end: int) -> str:
    """The words close before and behind a choice, up to the next full stop, comma or line end."""
    before = re.split(r"[.,;\n]", text[max(0, start - _NEAR) : start])[-1]
    after = re.match(r"\s*+(?:is|was|isn't|can't|cannot|would|as)[^.,;\n]{0,40}", text[end : end + _NEAR])
    return f"{before} {after.group() if after else ''}"


_NEAR = 60  # characters
_DECLINED = re.compile(r"(?:do|did|would|wo|could|should)n't(?![a-z])", re.IGNORECASE)
_DENIED = re.compile(
    r"[\s.:,)]*+(?:is|was|isn't|can't be|cannot be|must be|seems)\s(?:\w++\s)?"
    r"(?:not|wrong|incorrect|false|a trap)(?![A-Za-z])",
    re.IGNORECASE,
)


def _first_label(text: str, labels: dict[str, str], *, lone: bool) -> str | NoAnswer | None:
    """The label that a text begins with, unless more of them, or prose, follow.

    Args:
        text: what is stated, or the whole text.
        labels: folded to declared.
        lone: whether a reason may follow the label, since the text says that this is the answer.
    """
    lead = re.match(_LEAD, text, re.IGNORECASE)
    at = lead.end() if lead else 0
    bracketed = text[at : at + 1] in ("(", "[")
    found = _label_at(text, at, labels)
    if found is None:
        return NoAnswer(reason="says what the answer is not") if lone and negated(text[:40]) else None
    label, end = found
    if _names_another(text, end, labels):
        return NoAnswer(reason="names several options")
    rest = text[end:]
    if _DENIED.match(rest):
        return NoAnswer(reason="says what the answer is not")
    marked = bracketed or text[end - 1] == ")" or rest[:1] in (":", ".")
    if (
        not rest.strip(" .)]:*\"'")
        or (lone and _ENDS.match(rest))
        or (marked and text[at : at + 2].strip("([ ")[:1].isupper())
    ):
        word = hedge(rest[:LONGEST_SENTENCE]) if len(rest) < 40 else None
        return label if word is None else NoAnswer(reason=f"leaves open which option it names ('{word}')")
    return None


def _label_at(text: str, at: int, labels: dict[str, str]) -> tuple[str, int] | None:
    """The label at a place, in brackets or not, and where it ends."""
    start = re.compile(r"[\s(\[\"']{0,4}").match(text, at)
    begin = start.end() if start else at
    for length in sorted({len(label) for label in labels}, reverse=True):
        label = labels.get(text[begin : begin + length].casefold())
        if label is not None and (after := _AFTER.match(text, begin + length)) is not None:
            return label, after.end() if text[begin + length : after.end()].strip() else begin + length
    return None


def _names_another(text: str, end: int, labels: dict[str, str]) -> bool:
    more = _ANOTHER.match(text, end)
    if more is None or (found := _label_at(text, more.end(), labels)) is None:
        return False
    rest = text[found[1] :]  # `B, a fine one` names one option, and so does `B, I think`
    if found[0].casefold() in ("a", "i") and _WORD_BEHIND.match(rest):
        return False
    return text[more.end() : more.end() + 1].isupper() or not rest.strip(" .)")


_WORD_BEHIND = re.compile(r"\s[a-z]{2}")
