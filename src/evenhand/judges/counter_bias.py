"""How strongly an evidence prompt leans against a model's leniency, by what the probe said of the model.

regime              dial     why
INFLATION_LIKELY    full     it piles its ratings up at the top
CALIBRATED          off      strong wording would deflate it
DEFLATION_LIKELY    off      it is strict by itself
AMBIGUOUS           soft     not known to be lenient, nor to be sound
none stored         soft     untested, and flagged so
PICKS_A_NUMBER      refused  it cannot tell good from bad: take another model
JITTERY             refused  it contradicts itself from one call to the next: ask an ensemble
"""

from collections.abc import Mapping
from typing import Literal

from evenhand.errors import InvalidInput

__all__ = ["DIALS", "UNTESTED", "Dial", "dial_for"]

Dial = Literal["off", "soft", "full"]

DIALS: tuple[Dial, ...] = ("off", "soft", "full")

UNTESTED = "untested_model"
"""The flag of records by a model that was never probed, where the dial is `auto`."""

_BY_REGIME: Mapping[str, Dial] = {
    "INFLATION_LIKELY": "full",
    "CALIBRATED": "off",
    "DEFLATION_LIKELY": "off",
    "AMBIGUOUS": "soft",
}
_REFUSED = {
    "PICKS_A_NUMBER": "its ratings hardly differ between good and bad work: use another model",
    "JITTERY": "its ratings change from one call to the next: use several models, or another one",
}


def dial_for(model: str, regime: str | None, *, anyway: bool = False) -> Dial:
    """The dial for a model.

    Args:
        model: its name, for the message.
        regime: as its last probe found it; None if it was never probed.
        anyway: judge with a model whose regime speaks against it, softly.
    Raises:
        InvalidInput: the regime speaks against the model, or is none that is known.

    >>> dial_for("openai/x", "CALIBRATED"), dial_for("openai/x", None)
    ('off', 'soft')
    """
    if regime is None:
        return "soft"
    if regime in _REFUSED:
        if anyway:
            return "soft"
        raise InvalidInput(
            f"{model}: its last probe found {regime}, so {_REFUSED[regime]}; --anyway judges with it still"
        )
    if regime not in _BY_REGIME:
        known = ", ".join([*_BY_REGIME, *_REFUSED])
        raise InvalidInput(f"{model}: the store holds the regime {regime!r}; expected one of {known}: probe it again")
    return _BY_REGIME[regime]
