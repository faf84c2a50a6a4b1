"""Calls in a checker's own Python source that can execute what they are given, by the names they are imported under."""

import ast
from collections.abc import Iterator, Mapping

__all__ = ["dangerous_calls"]

_CALLS: Mapping[str, str] = {
    "eval": "eval",
    "exec": "exec",
    "compile": "compile",
    **dict.fromkeys(
        ("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "commands.getoutput"), "a shell"
    ),
    **dict.fromkeys(
        (f"{module}.{name}" for module in ("pickle", "cloudpickle", "dill", "marshal") for name in ("load", "loads")),
        "pickle",
    ),
    **dict.fromkeys(("joblib.load", "torch.load", "pandas.read_pickle", "shelve.open", "pickle.Unpickler"), "pickle"),
    **dict.fromkeys(("yaml.load", "yaml.unsafe_load", "yaml.full_load"), "yaml.load"),
    **dict.fromkeys(("importlib.import_module", "__import__"), "an import by name"),
    **dict.fromkeys(("runpy.run_path", "runpy.run_module"), "runpy"),
    **dict.fromkeys(("pandas.eval", "numexpr.evaluate"), "eval"),
    **dict.fromkeys(("sympy.sympify", "sympy.S", "sympy.parsing.sympy_parser.parse_expr"), "eval, by way of sympy"),
}
_SAFE_LOADERS = ("SafeLoader", "CSafeLoader", "BaseLoader", "CBaseLoader")


def dangerous_calls(tree: ast.AST) -> Iterator[tuple[int, str]]:
    r"""(line, what is called) for each call that can execute its input; calls with constants alone are left out.

    Names are followed through imports and plain assignments: `from os import system as s` and `e = eval` hide nothing.

    >>> sorted(dangerous_calls(ast.parse("from os import system as s\ns(x)\nmodel.eval()\neval('1')")))
    [(2, 'a shell')]
    """
    names = _names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (what := _danger(node, _called(node.func, names))):
            yield node.lineno, what


def _danger(node: ast.Call, called: str) -> str:
    keywords = {word.arg: word.value for word in node.keywords}
    if _is_true(keywords.get("shell")):
        return "a shell"
    if called == "numpy.load" and _is_true(keywords.get("allow_pickle")):
        return "pickle"
    if called not in _CALLS or (node.args and all(isinstance(argument, ast.Constant) for argument in node.args)):
        return ""
    loader = keywords.get("Loader") or (node.args[1] if called == "yaml.load" and len(node.args) > 1 else None)
    if called == "yaml.load" and loader is not None and ast.unparse(loader).rpartition(".")[2] in _SAFE_LOADERS:
        return ""
    return _CALLS[called]


def _is_true(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is True


def _names(tree: ast.AST) -> dict[str, str]:
    """What local names stand for: `np` for numpy, `s` for os.system, `e` for eval."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update({name.asname: name.name for name in node.names if name.asname})
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update({name.asname or name.name: f"{node.module}.{name.name}" for name in node.names})
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute):
            full = _called(node.value, found)
            if full in _CALLS:
                found.update({target.id: full for target in node.targets if isinstance(target, ast.Name)})
    return found


def _called(function: ast.expr, names: Mapping[str, str]) -> str:
    """The full name of what is called; "" where it is no name."""
    parts: list[str] = []
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    if isinstance(function, ast.Call) and _called(function.func, names) in ("__import__", "importlib.import_module"):
        first = function.args[0] if function.args else None
        root = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
    elif isinstance(function, ast.Name):
        root = names.get(function.id, function.id)
    else:
        return ""
    full = ".".join([root, *reversed(parts)])
    return full.removeprefix("builtins.")
