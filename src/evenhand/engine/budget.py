"""A hard budget: no call goes out whose worst case could exceed it."""

import asyncio
from dataclasses import dataclass

from evenhand.errors import BudgetSpent

__all__ = ["Budget", "Reservation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """The most that one call can cost; `usd` is None where no price is known, which a dollar budget refuses earlier."""

    tokens: int
    usd: float | None = None


class Budget:
    """What this run may spend, in dollars, in tokens, or both; replies from the store cost nothing.

    A call reserves its worst case before it goes out and settles with what it took. Where a reservation does not fit,
    it waits for those in flight, whose true cost is mostly far below their worst case; if it does not fit with none in
    flight, the budget is spent.
    """

    def __init__(self, *, usd: float | None = None, tokens: int | None = None) -> None:
        self.limit_usd = usd
        self.limit_tokens = tokens
        self.spent_usd = 0.0
        self.spent_tokens = 0
        self._reserved_usd = 0.0
        self._reserved_tokens = 0
        self._in_flight = 0
        self._settled = asyncio.Condition()

    @property
    def unlimited(self) -> bool:
        """Whether there is nothing to keep account of."""
        return self.limit_usd is None and self.limit_tokens is None

    async def reserve(self, worst: Reservation) -> None:
        """Wait until the call's worst case fits.

        Raises:
            BudgetSpent: it does not fit even with nothing in flight.
        """
        async with self._settled:
            while not self._fits(worst):
                if not self._in_flight:
                    raise BudgetSpent(self._message(worst))
                await self._settled.wait()
            self._hold(worst, 1)

    async def settle(self, worst: Reservation, *, tokens: int | None, usd: float | None) -> None:
        """Replace a reservation by what the call took; an attempt that was not metered (None) counts its worst case."""
        async with self._settled:
            self._hold(worst, -1)
            self.spent_tokens += worst.tokens if tokens is None else tokens
            if self.limit_usd is not None:
                self.spent_usd += (worst.usd or 0.0) if usd is None else usd
            self._settled.notify_all()

    async def free(self, worst: Reservation) -> None:
        """Give a reservation back: the attempt was refused and cost nothing."""
        async with self._settled:
            self._hold(worst, -1)
            self._settled.notify_all()

    def _hold(self, worst: Reservation, sign: int) -> None:
        self._in_flight += sign
        self._reserved_tokens += sign * worst.tokens
        self._reserved_usd += sign * (worst.usd or 0.0)

    def _fits(self, worst: Reservation) -> bool:
        tokens = self.spent_tokens + self._reserved_tokens + worst.tokens
        usd = self.spent_usd + self._reserved_usd + (worst.usd or 0.0)
        return (self.limit_tokens is None or tokens <= self.limit_tokens) and (
            self.limit_usd is None or usd <= self.limit_usd + 1e-12
        )

    def _message(self, worst: Reservation) -> str:
        spent = [f"{self.spent_tokens} of {self.limit_tokens} tokens"] if self.limit_tokens is not None else []
        if self.limit_usd is not None:
            spent.append(f"${self.spent_usd:.4f} of ${self.limit_usd:.4f}")
        most = f"{worst.tokens} tokens" + ("" if worst.usd is None else f", ${worst.usd:.4f}")
        return (
            f"the budget is spent: {' and '.join(spent)} used, and the next call could take up to {most}; "
            "what was answered is kept, run the same command with a larger budget to go on"
        )
