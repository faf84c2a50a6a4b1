"""All rounding in pages, in one place: half up, from the number's shortest decimal form, and never to a false zero.

What is not defined is said in a word, and what is not known is not shown as 0.
"""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

__all__ = [
    "UNDEFINED",
    "UNKNOWN",
    "alike",
    "compact",
    "cost",
    "interval",
    "number",
    "percent",
    "percent_text",
    "percents",
]

UNDEFINED = "undefined"
UNKNOWN = "unknown"

_LARGE = 10**23  # beyond, decimals have no room beside the digits, and a float has none of either
_SPACE = "\u202f"  # narrow, and no line break between a number and its sign


def number(value: float | None, digits: int = 2) -> str:
    """A score, weight or estimate: rounded half up, without trailing zeros.

    Args:
        digits: most decimals, 0 or more.

    >>> number(2.675), number(4.0), number(-0.001), number(None)
    ('2.68', '4', '0', 'undefined')
    """
    if value is None or value != value:
        return UNDEFINED
    if abs(value) >= _LARGE:
        return f"{value:.3e}"
    rounded = Decimal(str(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    text = f"{rounded:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def alike(values: Sequence[float], digits: int = 2) -> tuple[str, ...]:
    """Numbers that belong together, such as an estimate and its interval: all with the decimals that one of them needs.

    >>> alike((0.8, 1.0)), alike((0.5, 0.25, 0.704)), alike((1.0, 5.0)), alike((-0.001, 1.0))
    (('0.8', '1.0'), ('0.50', '0.25', '0.70'), ('1', '5'), ('0', '1'))
    """
    shown = [number(value, digits) for value in values]
    decimals = [None if text == UNDEFINED or "e" in text else len(text.partition(".")[2]) for text in shown]
    most = max((own for own in decimals if own is not None), default=0)
    return tuple(
        text if own is None else f"{Decimal(text):.{most}f}" for text, own in zip(shown, decimals, strict=True)
    )


def compact(value: float | None) -> str:
    """A number of any size for a narrow column: at most four decimals, a power of ten outside 0.00005 to 10,000,000.

    >>> compact(0.97949), compact(12345.678), compact(0.00001), compact(3e9), compact(None)
    ('0.9795', '12345.7', '1.0e-05', '3.0e+09', '-')
    """
    if value is None:
        return "-"
    if value != 0 and (abs(value) < 5e-5 or abs(value) >= 1e7):
        return f"{value:.1e}"
    return number(value, 4 if abs(value) < 1000 else 1)


def percent(share: float | None) -> str:
    """A share in percent: whole from 10 % to 90 %, one decimal outside; only nothing is 0 %, only all is 100 %.

    >>> [percent(share).replace(chr(0x202f), " ") for share in (0, 0.0001, 0.034, 0.5, 0.9996, 1, None)]
    ['0 %', '<0.1 %', '3.4 %', '50 %', '>99.9 %', '100 %', 'undefined']
    """
    if share is None or share != share:
        return UNDEFINED
    if 0 < share < 0.001:
        return f"<0.1{_SPACE}%"
    if 0.999 < share < 1:
        return f">99.9{_SPACE}%"
    hundred = Decimal(str(share)) * 100
    return f"{number(float(hundred), 0 if 10 <= hundred <= 90 else 1)}{_SPACE}%"


def percent_text(share: float | None) -> str:
    """The same with a space of the usual width, for a terminal and for text that is copied.

    >>> percent_text(0.912), percent_text(0.5)
    ('91.2 %', '50 %')
    """
    return percent(share).replace(_SPACE, " ")


def interval(bounds: Sequence[float] | None) -> str:
    """The 95 % interval of a share.

    >>> interval((0.2553, 0.3662)).replace(chr(0x202f), " "), interval(None)
    ('26 % to 37 %', 'undefined')
    """
    if bounds is None or bounds[0] != bounds[0]:
        return UNDEFINED
    return " to ".join(percents(bounds))


def percents(shares: Sequence[float]) -> tuple[str, ...]:
    """Shares that belong together: where one below 10 % or above 90 % has a decimal, all such do; 0 and all stay whole.

    >>> [share.replace(chr(0x202f), " ") for share in percents((0.08, 0.034, 0.5, 0.0, 1.0))]
    ['8.0 %', '3.4 %', '50 %', '0 %', '100 %']
    """
    shown = [percent(share) for share in shares]
    decimal = any("." in text and text[0].isdigit() for text in shown)
    open_ended = [decimal and "." not in text and (0 < share < 0.1 or 0.9 < share < 1)
                  for text, share in zip(shown, shares, strict=True)]  # fmt: skip
    return tuple(
        text.replace(_SPACE, f".0{_SPACE}") if opened else text for text, opened in zip(shown, open_ended, strict=True)
    )


def cost(usd: float | None) -> str:
    """Dollars: two decimals from one dollar on, two significant digits below; unknown is a word.

    >>> cost(12.345), cost(0.04567), cost(0.0000012), cost(0.0), cost(None)
    ('$12.35', '$0.046', '$0.0000012', '$0', 'unknown')
    """
    if usd is None:
        return UNKNOWN
    amount = Decimal(str(usd))
    if amount == 0:
        return "$0"
    if abs(amount) >= _LARGE:
        return f"${usd:.3e}"
    digits = 2 if amount >= 1 else 1 - amount.adjusted()
    return f"${amount.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):,f}"
