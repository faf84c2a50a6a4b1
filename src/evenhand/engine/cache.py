"""What the engine asks of whoever remembers replies. The store has these methods; a dictionary serves in tests."""

from collections.abc import Sequence
from typing import Protocol

from evenhand.terms import Profile, Reply

__all__ = ["ReplyCache"]


class ReplyCache(Protocol):
    """Replies by the content key of their call, as 32 bytes."""

    def get(self, key: bytes) -> Reply | None:
        """The stored reply with its `key` filled in, or None. Fast: it is called on the event loop."""
        ...

    async def put(
        self,
        *,
        key: bytes,
        endpoint: str,
        model: str,
        request: bytes,
        reply: Reply,
        latency_ms: float,
        attempts: int,
        cost_usd: float | None,
    ) -> Reply:
        """Keep a reply, unless another process has kept one under its key meanwhile.

        Args:
            key: content key of the call.
            endpoint: identity of the endpoint.
            model: `provider/model`.
            request: the canonical JSON that the key hashes.
            reply: what was answered.
            latency_ms: of the attempt that succeeded.
            attempts: how many attempts it took, that one included.
            cost_usd: None when the price is unknown.
        Returns:
            The reply that stands under the key, once it is durable; a record must rest on what the store holds.
        Raises:
            StoreError: it could not be kept.
        """
        ...

    def fault(self, *, key: bytes, endpoint: str, model: str, code: str, status: int | None) -> None:
        """Note a failed attempt, so that each call is accounted for; durable with the next group."""
        ...

    def profile(self, endpoint: str, model: str) -> Profile | None:
        """How this model is asked, if that was found before."""
        ...

    async def keep_profile(self, endpoint: str, model: str, profile: Profile) -> None:
        """Remember how this model is asked; a later one replaces it."""
        ...

    def any_retried(self) -> bool:
        """Whether `retry_from` was ever called on this store; False spares a look-up an item."""
        ...

    def first_attempt(self, key: bytes) -> int:
        """The attempt number to begin with, where `--retry-failed` gave up the earlier ones; 0 otherwise."""
        ...

    async def retry_from(self, keys: Sequence[bytes], attempt: int) -> None:
        """Remember that outcomes which began with these keys begin at `attempt` from now on."""
        ...
