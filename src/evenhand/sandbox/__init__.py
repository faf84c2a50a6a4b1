"""Running untrusted code: one contract, bubblewrap first, and nothing that the code writes is trusted."""

from evenhand.sandbox.box import Sandbox, SandboxKind, available
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

__all__ = [
    "CheckCall",
    "CheckResult",
    "CheckStatus",
    "CommandRun",
    "Limits",
    "LoadStatus",
    "Sandbox",
    "SandboxKind",
    "SuiteJob",
    "SuiteRun",
    "available",
]
