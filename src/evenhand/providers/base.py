"""The contract of a provider: one async method, from a call to its reply. The engine does everything else."""

from typing import Protocol

from evenhand.terms import Call, Profile, Reply

__all__ = ["Provider"]


class Provider(Protocol):
    """One endpoint.

    Attributes:
        name: the provider's name as it stands before the first `/` or `:` of a model's name.
        identity: what the endpoint is, for content keys: its base URL, normalised and without credentials, or for a
            local model the SHA-256 of its weights, of its chat template, and the runtime's version.
        max_concurrency: how many calls it is worth having in flight (slots of a local model), or None for no opinion.
    """

    name: str
    identity: str
    max_concurrency: int | None

    async def ask(self, call: Call, profile: Profile, *, timeout_s: float) -> Reply:
        """Make one attempt, without retrying.

        Args:
            call: what to ask. `call.model` is the whole name, `provider/model`; only the part after it is sent.
            profile: how this endpoint can be asked.
            timeout_s: deadline of this attempt, over the whole exchange, in seconds.
        Returns:
            The reply, whatever its finish reason; `key` is left empty.
        Raises:
            UnsupportedParameter: the endpoint rejects the way of asking; the engine tries the next and remembers.
            QuotaExhausted: no credit left.
            ProviderError: any other fault, with `retryable` and `retry_after_s` set.
        """
        ...

    async def close(self) -> None:
        """Release connections and weights."""
        ...
