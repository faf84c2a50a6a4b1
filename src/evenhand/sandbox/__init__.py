"""Running untrusted code: one contract, several kinds of sandbox, and nothing that the code writes is trusted."""

from evenhand.sandbox.box import Sandbox, available
from evenhand.sandbox.comparing import equal_values, shown_value
from evenhand.sandbox.description import Hold, SandboxDescription
from evenhand.sandbox.ground import SandboxKind
from evenhand.sandbox.limits import (
    CheckCall,
    CheckResult,
    CheckStatus,
    CommandRun,
    Limits,
    LoadStatus,
    SuiteJob,
    SuiteRun,
)
from evenhand.sandbox.pool import TrustedPool

__all__ = [
    "CheckCall",
    "CheckResult",
    "CheckStatus",
    "CommandRun",
    "Hold",
    "Limits",
    "LoadStatus",
    "Sandbox",
    "SandboxDescription",
    "SandboxKind",
    "SuiteJob",
    "SuiteRun",
    "TrustedPool",
    "available",
    "equal_values",
    "shown_value",
]
