"""Every exception that evenhand raises on purpose.

    EvenhandError
    ├── InvalidInput (ValueError)     the caller's mistake: a file, a setting, an argument; exit code 2
    ├── ProviderError                 a model endpoint could not give a reply
    │   ├── UnsupportedParameter      the endpoint rejects one way of asking; another may work
    │   └── QuotaExhausted            no credit or daily limit left; waiting does not help
    ├── UnreadableReply               a reply that cannot be read as a verdict; becomes a Failure
    ├── BudgetSpent                   the declared budget would be exceeded; exit code 3
    ├── SandboxError                  untrusted code cannot be run safely on this machine; exit code 2
    └── StoreError                    what the disk holds, or cannot hold; exit code 2

Nothing decides by matching message text: what a handler needs stands in a field.
A message names the place (file, line, field or argument), what came, what was expected, and the way out.
"""

__all__ = [
    "BudgetSpent",
    "EvenhandError",
    "InvalidInput",
    "ProviderError",
    "QuotaExhausted",
    "SandboxError",
    "StoreError",
    "UnreadableReply",
    "UnsupportedParameter",
]


class EvenhandError(Exception):
    """The root of the tree."""


class InvalidInput(EvenhandError, ValueError):
    """Something the caller wrote cannot be used: a file, a field, a setting, an argument."""


class ProviderError(EvenhandError):
    """An endpoint could not give a reply.

    Args:
        message: one sentence; never holds a key or a header.
        provider: the provider's name, as in the model's name.
        status: HTTP status, where there was one.
        retryable: whether the same call may succeed later.
        retry_after_s: what the endpoint asked us to wait, in seconds.
        code: `rate_limit`, `server`, `connect`, `timeout`, `bad_body`, `auth`, `bad_request`, `not_found`, `quota`,
            `too_long` (the prompt does not fit the model) or `unsupported`.
        call_key: the content key of the call that failed, set by the engine.
    """

    def __init__(
        self,
        message: str,
        *,
        provider: str,
        status: int | None = None,
        retryable: bool = False,
        retry_after_s: float | None = None,
        code: str = "server",
        call_key: str | None = None,
    ) -> None:
        super().__init__(message)
        self.provider = provider
        self.status = status
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.code = code
        self.call_key = call_key


class UnsupportedParameter(ProviderError):
    """The endpoint rejects one parameter or way of asking.

    Args:
        parameter: `schema`, `tool`, `json`, `temperature`, `max_tokens` (it wants `max_completion_tokens`),
            `logprobs` or `seed`.
    """

    def __init__(self, message: str, *, provider: str, parameter: str, status: int | None = None) -> None:
        super().__init__(message, provider=provider, status=status, retryable=False, code="unsupported")
        self.parameter = parameter


class QuotaExhausted(ProviderError):
    """The account has no credit, or its daily limit is spent. The run stops; it is not a burst."""

    def __init__(self, message: str, *, provider: str, status: int | None = None) -> None:
        super().__init__(message, provider=provider, status=status, retryable=False, code="quota")


class UnreadableReply(EvenhandError):
    """A reply that cannot be read as a verdict.

    Args:
        message: what is wrong, in words that the model can be told in a repair turn.
        code: `unreadable`, `truncated`, `empty` or `filtered`.
    """

    def __init__(self, message: str, *, code: str = "unreadable") -> None:
        super().__init__(message)
        self.code = code


class BudgetSpent(EvenhandError):
    """The next call could exceed the declared budget; what is done is kept, and running again resumes."""


class SandboxError(EvenhandError):
    """Untrusted code cannot be run safely on this machine, or a sandbox did not start."""


class StoreError(EvenhandError):
    """The store cannot be read or written: missing, read-only, full, of a newer version, or damaged."""
