"""The helping process of `helper.py`: one JSON request a line in, one JSON answer a line out. Standard library only.

It is started by its path in Python's isolated mode, so that no module in the current folder takes the place of one of
the standard library; the folder is put last on the path, for the user's own callables.

    {"pattern": ..., "text": ...}             {"holds": true, "span": [3, 9]}
    {"callable": "module:name", "text": ...}  {"holds": false}
    whatever goes wrong                       {"fault": ...}
"""

import importlib
import json
import os
import re
import sys
from typing import Any

__all__ = ["answered", "main"]

_SHOWN = 300


def main() -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a callable prints is nobody's answer
    sys.path.append(os.getcwd())
    for line in sys.stdin.buffer:
        try:
            answer = answered(json.loads(line))
        except BaseException as error:
            answer = {"fault": f"it raised {type(error).__name__}: {error}"[:_SHOWN]}
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


def answered(request: dict[str, Any]) -> dict[str, Any]:
    """One answer."""
    text = request["text"]
    if "pattern" in request:
        found = re.search(request["pattern"], text)
        return {"holds": found is not None, "span": None if found is None else list(found.span())}
    module, _, name = request["callable"].partition(":")
    target: Any = importlib.import_module(module)
    for part in name.split("."):
        target = getattr(target, part)
    holds = target(text)
    if not isinstance(holds, bool):
        return {"fault": f"it returned {type(holds).__name__}; expected True or False"}
    return {"holds": holds}


if __name__ == "__main__":
    main()
