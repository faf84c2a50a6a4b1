"""What a probe asks: all items in one call, again and again; or each item by itself, its rating read from one token.

together    one call for all items, at a temperature: the published protocol
share       one call an item with one token of reply, whose alternatives give the whole distribution of the rating
alone       one call an item at a temperature, to see whether the distribution keeps its promise

**The digit trap.** Tokenizers that part digits write 10 as "1" and "0", so that the first token's "1" stands for both 1
and 10. Where "1" has a share worth telling and no alternative is "10", a second call splits it: two tokens without
sampling where "1" is the first choice, since then it comes first again; else one token after an assistant turn that
begins with "1". An endpoint that begins a new turn there is recognised by what comes, and then the item has no
distribution: 1 and 10 are not told apart by guessing.

A small model may write prose where a number was asked for. Where numbers have less than a tenth of the first token, the
item is asked once more with the reply begun for the model, as JSON, and the token after that is read.

A temperature acts on tokens: shares become share ** (1 / temperature), over the alternatives of each token. No repair
turn is asked for, and no fresh ask: how often a reply cannot be read is part of what is measured.
"""

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evenhand.errors import InvalidInput
from evenhand.judges.fit import list_of
from evenhand.judges.probe_reading import KEY, RunFailure, read_run
from evenhand.judges.prompts import Fence, Template, fill, template_text
from evenhand.judges.yes_no import LEAST_MASS
from evenhand.keys import bare, content_key
from evenhand.terms import Call, Message, ProbeItems, Reply

__all__ = ["ALTERNATIVES", "LONGEST_SINGLE", "MOST_SAMPLES", "TEMPERATURE", "Asking", "Probe", "RatingShares"]

TEMPERATURE = 0.7
"""Of the published protocol."""

ALTERNATIVES = 20
"""Alternatives asked for: the most that common endpoints give."""

MOST_SAMPLES = 1000
"""Samples of one item at most."""

LONGEST_SINGLE = 4
"""Tokens of a single item's sampled reply: two digits, and a little that is passed over."""

# How a reply is begun for a model that would write prose.
_BEGINNING = '{"rating": '
# Below this share of the first token, parting 1 from 10 changes no figure that is shown.
_WORTH_PARTING = 0.005
# The share of what can follow a "1", below which the endpoint does not go on where it was told to.
_LEAST_GOING_ON = 0.5
_MOST_LISTED = 25
# White space as tokenizers write it, and marks that models put around a number.
_AROUND = " \t\r\n\u0120\u010a\u2581\"'`*_"

Direction = Literal["high", "low"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingShares:
    """The distribution of one item's rating.

    Args:
        shares: level to share at the probe's temperature, rising levels, summing to 1.
        mass: what the levels had of the first token's probability, before the temperature; in [0, 1].
        parted: whether a second call told 1 and 10 apart.
        begun: whether the reply was begun for the model.
    """

    shares: Mapping[int, float]
    mass: float
    parted: bool = False
    begun: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _After:
    """What follows a "1": the share that ends the number there, and the share of a 0; other digits leave the scale."""

    ends: float
    zero: float

    @classmethod
    def of(cls, alternatives: Sequence[tuple[str, float]], temperature: float) -> "_After":
        weights: dict[str, float] = {}
        for token, logprob in alternatives:  # as they stand: a space before a digit ends the number
            weights[token] = weights.get(token, 0.0) + math.exp(min(logprob, 0.0) / temperature)
        total = math.fsum(weights.values())
        digits = math.fsum(weight for token, weight in weights.items() if token[:1].isdecimal())
        return cls(ends=1.0 - digits / total, zero=weights.get("0", 0.0) / total)


Asking = Generator[tuple[Call, ...], tuple[Reply, ...], tuple[int, ...] | RatingShares | RunFailure]


class Probe:
    """A set of items, and how a model is asked about them.

    Args:
        items: what is rated, and the scale.
        templates: file name to text of the prompt templates.
        temperature: of sampling, and of the distributions.
        max_tokens: limit of a reply about all items.
        best: which end of the scale is best.
    Raises:
        InvalidInput: a template that cannot be filled.
    """

    version = 1

    def __init__(
        self,
        items: ProbeItems,
        templates: Mapping[str, str],
        *,
        temperature: float = TEMPERATURE,
        max_tokens: int = 2048,
        best: Direction = "high",
    ) -> None:
        self.items = items
        self.low, self.high = items.scale_min, items.scale_max
        self._temperature, self._max_tokens = temperature, max_tokens
        words = {
            "name": items.name,
            "low": str(self.low),
            "high": str(self.high),
            "best": fill(templates, f"probe_best_{best}.md", {}),
        }
        material = {"material": fill(templates, "material.md", {})}
        n = len(items.items)
        self._together = Message(role="system", text=_filled(templates, "probe.md", {**words, **material, "n": str(n)}))
        self._single = Message(role="system", text=_filled(templates, "probe_one.md", {**words, **material}))
        self._end = _filled(templates, "probe_end.md", words)
        self._frame = Template(template_text(templates, "probe_items.md").strip("\n"), name="probe_items.md",
                               known=("fence", "texts"))  # fmt: skip
        self._text = Template(template_text(templates, "probe_item.md").strip("\n"), name="probe_item.md",
                              known=("fence", "name", "text"))  # fmt: skip
        static = {"probe": self.version, "together": self._together.text, "single": self._single.text}
        self._fence = Fence(bare(content_key(static)))
        self._schema = list_of(KEY, self._rating(), minItems=n, maxItems=n)

    def refuse_long_levels(self) -> None:
        """No log probabilities for scales on which a rating may take more than one or two tokens.

        Raises:
            InvalidInput: the scale leaves 0 to 10.
        """
        if self.low < 0 or self.high > 10:
            raise InvalidInput(
                f"--method logprob: the scale runs from {self.low} to {self.high}, and a rating is read from one or "
                "two tokens only within 0 to 10; use --method sample"
            )

    def together(self, *, model: str, rerun: int) -> Asking:
        """All items in one call; ends with the ratings, or with why there are none."""
        call = replace(
            self._call(self._together, self._shown(self.items.items), model),
            schema=self._schema,
            temperature=self._temperature,
            max_tokens=self._max_tokens,
            rerun=rerun,
        )
        (reply,) = yield (call,)
        return read_run(reply, len(self.items.items), self.low, self.high)

    def alone(self, place: int, *, model: str, rerun: int, begun: bool = False) -> Asking:
        """One item in one call, sampled; ends with one rating, or with why there is none.

        Args:
            rerun: below `MOST_SAMPLES`. The call's own number is another one for every item: local models draw by a
                seed made from it, and with one seed for twenty similar prompts twenty samples are hardly more than one.
            begun: begin the reply for the model, as where its distribution was read that way.
        """
        call = replace(
            self._call(self._single, self._single_text(place), model),
            temperature=self._temperature,
            max_tokens=LONGEST_SINGLE,
            logprobs=ALTERNATIVES,  # not read, but asked as the distribution was: some models reason otherwise
            rerun=place * MOST_SAMPLES + rerun,
        )
        (reply,) = yield (_begun(call, _BEGINNING) if begun else call,)
        return self._leading(reply)

    def share(self, place: int, *, model: str) -> Asking:
        """One item's distribution from its first token, and a second one where it is needed."""
        call = replace(self._call(self._single, self._single_text(place), model), max_tokens=1, logprobs=ALTERNATIVES)
        begun = ""
        (reply,) = yield (call,)
        if reply.finish == "filter":
            return RunFailure(cause="filtered", message="the endpoint withheld the reply")
        plainly = _first_token(reply)
        if self._mass(plainly) < LEAST_MASS:
            begun = _BEGINNING
            (reply,) = yield (_begun(call, begun),)
        alternatives = reply.logprobs[0].alternatives if reply.logprobs else ()
        first = _added_up(alternatives)
        mass = self._mass(first)
        if mass < LEAST_MASS:
            return self._scattered(plainly, mass)
        one = _After(ends=1.0, zero=0.0)
        parted = self.high == 10 and "10" not in first and first.get("1", 0.0) >= _WORTH_PARTING
        if parted:
            found = yield from self._after_one(call, begun, reply.logprobs[0].token.strip(_AROUND) == "1")
            if isinstance(found, RunFailure):
                return found
            one = found
        shares = self._shares(_added_up(alternatives, self._temperature), one)
        if not shares:
            return RunFailure(cause="off_scale", message='only numbers that go on after a "1" were probable')
        return RatingShares(shares=shares, mass=min(1.0, mass), parted=parted, begun=bool(begun))

    # --- asking ----------------------------------------------------------------------------------------------------

    @property
    def _levels(self) -> range:
        return range(self.low, self.high + 1)

    @property
    def _words(self) -> set[str]:
        """What a first token can be: a level, or the first digit of 10."""
        return {str(level) for level in self._levels} | ({"1"} if self.high == 10 else set())

    def _call(self, system: Message, text: str, model: str) -> Call:
        messages = (system, Message(role="user", text=text))
        return Call(model=model, messages=messages, schema_name="probe", temperature=0.0, member=model)

    def _shown(self, texts: Sequence[str]) -> str:
        """Texts between marks, named by letters: a number would be a rating to be copied."""
        mark = self._fence.mark(texts)
        shown = [
            self._text.fill({"fence": mark, "name": _letters(place), "text": text}) for place, text in enumerate(texts)
        ]
        return self._frame.fill({"fence": mark, "texts": "\n\n".join(shown)})

    def _single_text(self, place: int) -> str:
        return f"{self._shown([self.items.items[place]])}\n\n{self._end}"

    def _rating(self) -> dict[str, object]:
        if len(self._levels) <= _MOST_LISTED:
            return {"type": "integer", "enum": list(self._levels)}
        return {"type": "integer", "minimum": self.low, "maximum": self.high}

    # --- reading ---------------------------------------------------------------------------------------------------

    def _leading(self, reply: Reply) -> tuple[int, ...] | RunFailure:
        """The number that a sampled reply begins with, as the first token's distribution would count it."""
        if reply.finish == "filter":
            return RunFailure(cause="filtered", message="the endpoint withheld the reply")
        text = reply.text.lstrip(_AROUND)
        digits = text[: len(text) - len(text.lstrip("0123456789"))]
        if not digits:
            cause = "unreadable" if text else "empty"
            return RunFailure(cause=cause, message="the reply does not begin with a number")
        if len(digits) > 3 or int(digits) not in self._levels:
            return RunFailure(cause="off_scale", message=f"the reply begins with {digits[:12]}")
        return (int(digits),)

    def _after_one(
        self, call: Call, begun: str, first_choice: bool
    ) -> Generator[tuple[Call, ...], tuple[Reply, ...], "_After | RunFailure"]:
        """What follows a "1", at the temperature."""
        if first_choice:
            (reply,) = yield (replace(_begun(call, begun), max_tokens=2),)
            if len(reply.logprobs) == 2 and reply.logprobs[0].token.strip(_AROUND) == "1":
                return _After.of(reply.logprobs[1].alternatives, self._temperature)
        (reply,) = yield (_begun(call, f"{begun}1"),)
        alternatives = reply.logprobs[0].alternatives if reply.logprobs else ()
        if math.fsum(share for token, share in _added_up(alternatives).items() if _goes_on(token)) < _LEAST_GOING_ON:
            return RunFailure(
                cause="two_digits",
                message='what follows a given "1" is not told, as where an endpoint begins a new turn there, so 1 and '
                "10 cannot be told apart; use --method sample, or a scale that ends at 9",
            )
        return _After.of(alternatives, self._temperature)

    def _shares(self, weights: Mapping[str, float], one: "_After") -> dict[int, float]:
        """Level to share, from each word's weight at the temperature and what follows a "1"."""
        found = {level: weights.get(str(level), 0.0) for level in self._levels}
        if 1 in found:
            found[1] *= one.ends
        if 10 in found:
            found[10] += weights.get("1", 0.0) * one.zero
        total = math.fsum(found.values())
        return {level: weight / total for level, weight in found.items() if weight > 0.0}

    def _mass(self, first: Mapping[str, float]) -> float:
        """What can begin a rating, of the first token's probability."""
        return math.fsum(first.get(word, 0.0) for word in self._words)

    def _scattered(self, plainly: Mapping[str, float], mass: float) -> RunFailure:
        """Where the first token's probability went instead."""
        if not plainly:
            return RunFailure(cause="empty", message="no first token came; use --method sample")
        token, share = max(plainly.items(), key=lambda pair: pair[1])
        return RunFailure(
            cause="unreadable",
            message=f"numbers of the scale had {self._mass(plainly):.3f} of the first token's probability "
            f"({token[:40]!r} alone {share:.3f}), and {mass:.3f} where the reply was begun; at least {LEAST_MASS} is "
            "needed: use --method sample",
        )


def _filled(templates: Mapping[str, str], name: str, words: Mapping[str, str]) -> str:
    """A template with those of the words that it has places for."""
    template = Template(template_text(templates, name).strip("\n"), name=name, known=tuple(words))
    return template.fill(words)


def _letters(place: int) -> str:
    """A, B, ..., Z, AA, AB, ...

    >>> [_letters(place) for place in (0, 25, 26, 701, 702)]
    ['A', 'Z', 'AA', 'ZZ', 'AAA']
    """
    name = ""
    place += 1
    while place:
        place, digit = divmod(place - 1, 26)
        name = chr(65 + digit) + name
    return name


def _begun(call: Call, text: str) -> Call:
    """The call with the beginning of its reply; itself where there is none."""
    return replace(call, messages=(*call.messages, Message(role="assistant", text=text))) if text else call


def _first_token(reply: Reply) -> dict[str, float]:
    """The alternatives of a reply's first token."""
    return _added_up(reply.logprobs[0].alternatives) if reply.logprobs else {}


def _added_up(alternatives: Sequence[tuple[str, float]], temperature: float = 1.0) -> dict[str, float]:
    """Token, without what surrounds it, to its weight at a temperature; variants of one number are added up."""
    found: dict[str, float] = {}
    for token, logprob in alternatives:
        word = token.strip(_AROUND)
        found[word] = found.get(word, 0.0) + math.exp(min(logprob, 0.0) / temperature)
    return found


def _goes_on(token: str) -> bool:
    """Whether a token can follow a "1" that the model is writing: a 0, or an end; no word and no other number."""
    return token in ("0", "") or token.startswith("<") or not any(character.isalnum() for character in token)
