"""How much may be under way at one endpoint: a concurrency that adapts to refusals, and rates per minute."""

import asyncio
from collections import deque
from collections.abc import Callable

__all__ = ["ConcurrencyLimit", "RateLimit"]


# How long a wait for a rate goes on, in seconds, before it looks whether the run is stopping.
_LOOK_UP_S = 0.25


class ConcurrencyLimit:
    """At most `limit` calls in flight; a burst of 429s shrinks the limit, answers let it grow back.

    Additive increase, multiplicative decrease, as in TCP's congestion control (Chiu and Jain, 1989). Refusals that
    arrive within a second of each other are one signal.
    """

    def __init__(self, largest: int, clock: Callable[[], float]) -> None:
        self.largest = largest
        self.limit = float(largest)
        self.active = 0
        self.most_active = 0
        self._clock = clock
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._shrunk_at = -1.0

    async def acquire(self) -> None:
        """Wait for a slot."""
        if self.active < int(self.limit) and not self._waiting:
            self._take()
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release()
            raise

    def release(self) -> None:
        """Give the slot to whoever waited longest."""
        self.active -= 1
        self._wake()

    def answered(self) -> None:
        """A reply arrived: grow by one slot per round of replies."""
        if self.limit < self.largest:
            self.limit = min(self.largest, self.limit + 1.0 / self.limit)
            self._wake()

    def refused(self) -> None:
        """A 429 arrived: shrink by a quarter, at most once a second."""
        now = self._clock()
        if now - self._shrunk_at >= 1.0 or self._shrunk_at < 0:
            self._shrunk_at = now
            self.limit = max(1.0, self.limit * 0.75)

    def _take(self) -> None:
        self.active += 1
        self.most_active = max(self.most_active, self.active)

    def _wake(self) -> None:
        while self._waiting and self.active < int(self.limit):
            turn = self._waiting.popleft()
            if not turn.done():
                self._take()
                turn.set_result(None)


class RateLimit:
    """At most so many units a minute, spread evenly: a bucket that holds a tenth of a minute's worth.

    Args:
        per_minute: requests or tokens; None is no limit.
        clock: seconds, monotonic.
    """

    def __init__(self, per_minute: int | None, clock: Callable[[], float]) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._room = 0.0 if per_minute is None else max(per_minute / 10.0, 1.0)
        self._level = self._room
        self._at = clock()

    async def take(self, amount: float, stopping: Callable[[], bool] = lambda: False) -> None:
        """Wait until `amount` units fit; more than the bucket holds is taken on credit and waited for afterwards.

        Args:
            amount: units.
            stopping: once true, the wait ends and nothing is taken.
        """
        if self.per_minute is None:
            return
        while not stopping():
            self._refill()
            if self._level >= min(amount, self._room):
                self._level -= amount
                return
            wait_s = (min(amount, self._room) - self._level) * 60.0 / self.per_minute
            await asyncio.sleep(min(wait_s, _LOOK_UP_S))

    def correct(self, amount: float) -> None:
        """Take (or, if negative, give back) what an estimate missed."""
        if self.per_minute is not None:
            self._level = min(self._room, self._level - amount)

    def _refill(self) -> None:
        assert self.per_minute is not None
        now = self._clock()
        self._level = min(self._room, self._level + (now - self._at) * self.per_minute / 60.0)
        self._at = now
