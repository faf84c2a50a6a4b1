"""What pairwise verdicts come to, for people: the order's part, who won against whom, and strengths."""

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.cli.output import shown
from evenhand.wording import plural

__all__ = ["pair_lines"]

_NAME = 32
_MOST = 40  # win rates, and strengths; --json has all


def pair_lines(pairs: Mapping[str, Any], *, hide_scores: bool = False) -> list[str]:
    """The lines on one member's pairwise verdicts; with `hide_scores` without anything that tells who won."""
    won = f"a better {pairs['a']}, b better {pairs['b']}, tie {pairs['tie']}, of {pairs['n']}"
    if hide_scores:  # an inconsistent swap is a tie, so that its number tells as well
        return [f"pairs    hidden, of {pairs['n']}"]
    lines = [
        f"pairs    {won}",
        f"swaps    {pairs['inconsistent']} inconsistent: "
        f"{_share(pairs['inconsistent_share'], pairs['inconsistent_interval'])}; each counts as a tie",
        _position_line(pairs),
    ]
    if "system_against_itself" in pairs:
        lines.append(
            f"systems  {plural(pairs['system_against_itself'], 'pair is', 'pairs are')} by one system: no game"
        )
    if "win_rates" not in pairs:
        return lines
    lines += ["", "win rates (a tie is half a point)"]
    for row in pairs["win_rates"][:_MOST]:
        share = _share(row["win_rate"], row["interval"])
        met = f"{share} of {plural(row['items'], 'item')}" if row["items"] else "undefined: they never met"
        lines.append(f"  {shown(row['system'], _NAME)} over {shown(row['against'], _NAME)}: {met}")
    lines += _more(len(pairs["win_rates"]))
    if "never_met" in pairs:
        lines.append(f"  {pairs['never_met']:,} further pairs of systems never met")
    return [*lines, *_strength_lines(pairs["strengths"]), ""]


def _more(n: int) -> list[str]:
    return [f"  and {n - _MOST:,} more"] if n > _MOST else []


def _position_line(pairs: Mapping[str, Any]) -> str:
    twice = pairs["first_twice"] + pairs["second_twice"]
    once = f"; a tie in one order only {pairs['one_tie']}" if pairs["one_tie"] else ""
    if not twice:
        return f"position no verdict followed the place in both orders{once}"
    return (
        f"position the first in both orders {pairs['first_twice']}, the second {pairs['second_twice']}: "
        f"first {_share(pairs['position_preference'], pairs['position_interval'])}{once}"
    )


def _strength_lines(strengths: Mapping[str, Any]) -> list[str]:
    """Bradley-Terry strengths, strongest first."""
    if strengths["undefined"]:
        return [f"strengths undefined: {shown(strengths['undefined'])}"]
    undefined = strengths["resamples_undefined"]
    note = f", undefined in {undefined}" if undefined else ""
    lines = [
        f"strengths (Bradley-Terry, log scale, mean 0; {plural(strengths['resamples'], 'resample')} of "
        f"{plural(strengths['n_items'], 'item')}{note}, seed {strengths['seed']})"
    ]
    for row in strengths["systems"][:_MOST]:
        ends = row["interval"]
        between = (
            ("" if "note" in strengths else "no interval: too many resamples are undefined")
            if ends is None
            else f"[{ends[0]:+.2f}, {ends[1]:+.2f}]"
        )
        lines.append(f"  {shown(row['system'], _NAME)}  {row['strength']:+.2f} {between}".rstrip())
    lines += _more(len(strengths["systems"]))
    return [*lines, f"  {strengths['note']}"] if "note" in strengths else lines


def _share(share: float | None, interval: Sequence[float] | None) -> str:
    if share is None or interval is None:
        return "undefined"
    return f"{share:.2f} [{interval[0]:.2f}, {interval[1]:.2f}]"
