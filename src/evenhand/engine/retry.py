"""When a failed attempt is made again, and after how long. Plain arithmetic; the waiting is done elsewhere."""

from dataclasses import dataclass

from evenhand.errors import ProviderError

__all__ = ["RetryPolicy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How patient the engine is with one call.

    Args:
        max_attempts: attempts at one call, whatever fails.
        max_connect_attempts: attempts while the endpoint cannot even be reached: a server that is down stays down.
        first_wait_s: wait before the second attempt, doubled for each further one.
        largest_wait_s: no backoff of ours is longer; what Retry-After asks for is honoured up to the call's deadline.
        attempt_timeout_s: deadline of one attempt, over the whole exchange.
        call_deadline_s: deadline of a call: its attempts and the waits between them, not its turn in a queue.
    """

    max_attempts: int = 8
    max_connect_attempts: int = 5
    first_wait_s: float = 0.5
    largest_wait_s: float = 30.0
    attempt_timeout_s: float = 120.0
    call_deadline_s: float = 600.0

    def wait_s(self, error: ProviderError, attempts: int, elapsed_s: float, jitter: float) -> float | None:
        """How long to wait before the next attempt, or None where there is none.

        Args:
            error: what the last attempt met.
            attempts: attempts made so far.
            elapsed_s: seconds since the call began.
            jitter: in [0, 1): spreads clients that failed together over half of the wait.
        """
        unreachable = error.code == "connect"
        if not error.retryable or attempts >= (self.max_connect_attempts if unreachable else self.max_attempts):
            return None
        wait = min(self.first_wait_s * 2.0 ** (attempts - 1), self.largest_wait_s) * (1.0 + jitter) / 1.5
        if error.retry_after_s is not None:
            wait = max(error.retry_after_s * (1.0 + 0.1 * jitter), 0.0)
        return wait if elapsed_s + wait < self.call_deadline_s else None
