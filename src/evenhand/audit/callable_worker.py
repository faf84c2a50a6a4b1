"""Calls a user's own function once for each line of standard input; started as a process of its own.

    python callable_worker.py FILE FUNCTION

A line is JSON `{"number", "candidate", "item"}`; the answer is `{"number", "value": true | false}` or `{"number",
"failed": ...}`. What the function
prints goes nowhere near the answers. Nothing of evenhand is imported here: it runs in the user's folder, as the user.
"""

import importlib.util
import json
import os
import sys
from typing import Any

__all__: list[str] = []


def _main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    path, name = sys.argv[1:3]
    sys.path[0] = os.path.dirname(path)
    function, failure = _function(path, name)
    for line in sys.stdin:
        request = json.loads(line)
        answers.write(json.dumps({"number": request["number"], **_answer(function, failure, request)}) + "\n")
        answers.flush()


def _function(path: str, name: str) -> "tuple[Any, str]":
    try:
        spec = importlib.util.spec_from_file_location("evenhand_channel", path)
        assert spec is not None and spec.loader is not None, "no Python file"  # noqa: PT018
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return getattr(module, name), ""
    except BaseException as error:
        return None, f"cannot be loaded: {type(error).__name__}: {error}"


def _answer(function: "Any", failure: str, request: "dict[str, Any]") -> "dict[str, Any]":
    if failure:
        return {"failed": failure}
    try:
        value = function(request["candidate"], request["item"])
    except BaseException as error:
        return {"failed": f"raised {type(error).__name__}: {error}"[:500]}
    if type(value) is not bool:
        return {"failed": f"returned {type(value).__name__}, not True or False"[:500]}
    return {"value": value}


if __name__ == "__main__":
    _main()
