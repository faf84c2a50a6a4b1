"""Yes or no from the alternatives of one token: the probability of yes among both, and how much they had of it all."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["LEAST_MASS", "YesNo", "yes_no"]

LEAST_MASS = 0.1
"""The smallest share of the token's probability that yes and no together need, for their ratio to say anything."""

# Decided on as it is shown: rounding hides that two mathematics libraries differ in the last digit of an exponential.
_DIGITS = 9

# White space as tokenizers write it, and the marks that models put around a single word.
_AROUND = " \t\r\n\u0120\u010a\u2581\"'`*_.,:;!()[]\u201c\u201d\u2018\u2019"


@dataclass(frozen=True, slots=True, kw_only=True)
class YesNo:
    """What the alternatives of one token say about a yes/no question.

    Args:
        probability: yes / (yes + no), in [0, 1], to nine digits; nan where neither is listed.
        mass: yes + no, of everything the endpoint listed and did not list; in [0, 1].
        strongest: the most probable alternative that is neither, with its probability; None where there is none.
    """

    probability: float
    mass: float
    strongest: tuple[str, float] | None = None

    @property
    def readable(self) -> bool:
        """Whether yes and no had at least `LEAST_MASS` together."""
        return self.mass >= LEAST_MASS


def yes_no(alternatives: Sequence[tuple[str, float]]) -> YesNo:
    """The probability of yes over the alternatives of one token.

    Variants are added up: case, a leading space, and quotation marks or a full stop around the word. Everything else
    (`Y`, `True`, `Yesterday`) is neither.

    Args:
        alternatives: (token, natural log probability), each token once, or several tokens of one text.

    >>> found = yes_no([("Yes", -0.7), (" yes", -2.0), ("No", -1.2), ("The", -3.0)])
    >>> round(found.probability, 4), round(found.mass, 4), found.strongest[0]
    (0.6772, 0.9331, 'The')
    """
    sums = {"yes": 0.0, "no": 0.0}
    strongest: tuple[str, float] | None = None
    for token, logprob in alternatives:
        probability = math.exp(min(logprob, 0.0))
        word = token.strip(_AROUND).casefold()
        if word in sums:
            sums[word] += probability
        elif strongest is None or probability > strongest[1]:
            strongest = (token, probability)
    mass = sums["yes"] + sums["no"]
    share = round(sums["yes"] / mass, _DIGITS) if mass else math.nan
    return YesNo(probability=share, mass=min(1.0, round(mass, _DIGITS)), strongest=strongest)
