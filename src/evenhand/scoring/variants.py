"""The constants of the evidence formula, and its published variants by name.

    normalized = net impact over a normaliser of the number of items
    raw        = clamp(centre + scale * normalized, lowest, highest)
    multiplier = multiplier_floor + multiplier_gain * clamp(n / density_denominator, 0, 1)
    score      = half up(centre + (raw - centre) * multiplier)

A variant differs in its constants and in the normaliser; `raw` is clamped in all of them. The score itself is not: with
a multiplier above 1 (`density-amplified`, `net-amplified`, kept for history) it can leave the scale, and prints so.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal, InvalidOperation
from typing import Literal

from evenhand.errors import InvalidInput

__all__ = ["FORMULA_VERSION", "SETTING_NAMES", "VARIANTS", "Normaliser", "Settings", "settings"]

FORMULA_VERSION = 1
"""Raised whenever the same items would score differently under the same settings."""

Normaliser = Literal["sqrt", "mean", "log", "net", "ranked"]

_LIMIT = Decimal(10) ** 9
_TINY = Decimal(10) ** -9
_WHOLE = ("cap", "item_floor")
_LABELS = ("variant", "normaliser")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every constant of the formula; a Settings that exists is a usable one.

    Args:
        variant: the name these settings started from.
        normaliser: what net impact is divided by: `sqrt` (of n), `mean` (n), `log` (ln n), `net` (nothing), or
            `ranked`: not a divisor but sqrt-shaped weights by rank of magnitude, see `scoring.impact`.
        centre: the score of a pool that balances out.
        scale: points per unit of normalized impact; above 0.
        lowest: lower bound of raw.
        highest: upper bound of raw.
        density_denominator: number of items at which confidence is full; above 0.
        multiplier_floor: multiplier without any items; at least 0.
        multiplier_gain: what full density adds to it; at least 0.
        cap: most items of one criterion, perspective and pass; a whole number, at least 1.
        item_floor: fewest items that a pool should hold; a pool below it is flagged. A whole number, at least 0.
        min_span: least difference between the highest and lowest criterion that passes the self-check; at least 0.
    Raises:
        InvalidInput: a constant that is no finite number or out of its range; numbers above 0 lie within 1e-9 and 1e9.
    """

    variant: str = "production"
    normaliser: Normaliser = "sqrt"
    centre: Decimal = Decimal(50)
    scale: Decimal = Decimal(8)
    lowest: Decimal = Decimal(0)
    highest: Decimal = Decimal(100)
    density_denominator: Decimal = Decimal(20)
    multiplier_floor: Decimal = Decimal("0.75")
    multiplier_gain: Decimal = Decimal("0.25")
    cap: int = 5
    item_floor: int = 2
    min_span: Decimal = Decimal(20)

    def __post_init__(self) -> None:
        for name in SETTING_NAMES:
            number = _number(name, getattr(self, name))
            object.__setattr__(self, name, int(number) if name in _WHOLE else number)
        for name in ("scale", "density_denominator"):
            if getattr(self, name) <= 0:
                raise InvalidInput(f"settings: {name} is {getattr(self, name)}; expected a number above 0")
        for name in ("multiplier_floor", "multiplier_gain", "min_span", "item_floor"):
            if getattr(self, name) < 0:
                raise InvalidInput(f"settings: {name} is {getattr(self, name)}; expected 0 or more")
        if self.cap < 1:
            raise InvalidInput(f"settings: cap is {self.cap}; expected a whole number of at least 1")
        if not self.lowest < self.highest:
            raise InvalidInput(
                f"settings: lowest is {self.lowest} and highest {self.highest}; expected lowest below it"
            )
        if not self.lowest <= self.centre <= self.highest:
            raise InvalidInput(
                f"settings: centre is {self.centre}; expected a number from lowest ({self.lowest}) to highest "
                f"({self.highest}): set centre too"
            )

    @property
    def amplifies(self) -> bool:
        """Whether the multiplier can exceed 1, so that a score may leave the scale."""
        return self.multiplier_floor + self.multiplier_gain > 1


SETTING_NAMES = tuple(field.name for field in fields(Settings) if field.name not in _LABELS)
"""The constants that may be overridden, in the order of the formula."""


def settings(variant: str = "production", overrides: Mapping[str, object] | None = None) -> Settings:
    """A variant's settings with some constants changed.

    Args:
        variant: a name in `VARIANTS`.
        overrides: constant to number (int, float or Decimal). A float stands for the decimal that prints it.
    Raises:
        InvalidInput: an unknown variant or constant, or a value that `Settings` refuses.

    >>> settings("production", {"scale": 6}).scale
    Decimal('6')
    """
    base = VARIANTS.get(variant) if isinstance(variant, str) else None
    if base is None:
        raise InvalidInput(f"settings: the variant {_came(variant)} is unknown; {_nearest(variant, tuple(VARIANTS))}")
    if not overrides:
        return base
    for name in overrides:
        if name not in SETTING_NAMES:
            raise InvalidInput(f"settings: the constant {_came(name)} is unknown; {_nearest(name, SETTING_NAMES)}")
    return replace(base, **{name: _number(name, value) for name, value in overrides.items()})  # type: ignore[arg-type]


def _number(name: str, value: object) -> Decimal:
    """The constant as a finite Decimal of sensible size."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise InvalidInput(f"settings: {name} is {_came(value)}; expected a number")
    try:
        number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    except (InvalidOperation, ValueError):
        raise InvalidInput(f"settings: {name} is {_came(value)}; expected a number") from None
    if not number.is_finite():
        raise InvalidInput(f"settings: {name} is {number}; expected a finite number")
    if number and not _TINY <= abs(number) <= _LIMIT:
        raise InvalidInput(f"settings: {name} is {number:.3e}; expected 0, or a size from 1e-9 to 1e9")
    if name in _WHOLE and number != number.to_integral_value():
        raise InvalidInput(f"settings: {name} is {number}; expected a whole number")
    return number


def _came(value: object) -> str:
    """What came, short enough for a sentence."""
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**40 else "an integer of more than 40 digits"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _nearest(name: object, known: tuple[str, ...]) -> str:
    """The way out: the one it looks like, or all."""
    close = difflib.get_close_matches(name, known, n=1) if isinstance(name, str) else []
    if not close and isinstance(name, str) and name:
        close = [one for one in known if one.startswith(name)][:1]
    listed = ", ".join(known)
    return f"did you mean {close[0]!r}? Known: {listed}" if close else f"use one of {listed}"


# Made last, because Settings checks itself with the helpers above.
VARIANTS: Mapping[str, Settings] = {
    made.variant: made
    for made in (
        Settings(),
        Settings(variant="mean", normaliser="mean"),
        Settings(variant="log", normaliser="log"),
        Settings(variant="no-density", multiplier_floor=Decimal(1), multiplier_gain=Decimal(0)),
        Settings(variant="density-amplified", multiplier_gain=Decimal("0.5")),
        Settings(variant="scale-6", scale=Decimal(6)),
        Settings(variant="scale-10", scale=Decimal(10)),
        Settings(variant="net-amplified", normaliser="net", scale=Decimal("1.6"), multiplier_gain=Decimal("0.5")),
        Settings(
            variant="ten-point",
            centre=Decimal(5),
            scale=Decimal("0.8"),
            highest=Decimal(10),
            density_denominator=Decimal(15),
            min_span=Decimal(2),
        ),
        Settings(variant="ranked", normaliser="ranked"),
    )
}
"""The published variants, and `ranked`, which is ours. The formula's own account is in `docs/scoring.md`."""
