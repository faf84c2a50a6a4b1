"""Presets of weights: a YAML or JSON file of names, each with weights by column.

cost-aware: {I: 0.2, K: 0.5}
accuracy:   {I: 0.7}
"""

import os
from collections.abc import Mapping
from pathlib import Path

import yaml

from evenhand.errors import InvalidInput
from evenhand.store.text_files import place, quoted, read_text_file

__all__ = ["read_presets"]

_MOST_BYTES = 1 << 20
_MOST_PRESETS = 200


def read_presets(path: str | Path) -> dict[str, dict[str, float]]:
    """The presets of a file, in its order.

    Raises:
        InvalidInput: no such file, no YAML, another shape, or a weight that is no number of at least 0.
    """
    name = place(path)
    if Path(path).is_file() and os.path.getsize(path) > _MOST_BYTES:
        raise InvalidInput(f"{name}: is larger than {_MOST_BYTES:,} bytes; expected a few named sets of weights")
    text = read_text_file(path, has_option=False).text()
    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" line {mark.line + 1}" if mark is not None else ""
        reason = getattr(error, "problem", None) or "nested too deeply"
        raise InvalidInput(
            f"{name}{where}: is no YAML ({quoted(reason)}); expected `name: {{column: weight}}`"
        ) from error
    if not isinstance(document, dict) or not document or len(document) > _MOST_PRESETS:
        raise InvalidInput(f"{name}: expected 1 to {_MOST_PRESETS} presets, such as `accuracy: {{I: 0.7}}`")
    return {str(preset): _weights(name, str(preset), weights) for preset, weights in document.items()}


def _weights(name: str, preset: str, weights: object) -> dict[str, float]:
    """The weights of one preset."""
    if not isinstance(weights, Mapping) or not weights:
        raise InvalidInput(f"{name}, {quoted(preset)}: holds {_kind(weights)}; expected weights such as {{I: 0.7}}")
    found = {}
    for column, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < float("inf"):
            raise InvalidInput(
                f"{name}, {quoted(preset)}: the weight of {quoted(column)} is {_kind(weight)}; expected a number of "
                "at least 0"
            )
        found[str(column)] = float(weight)
    return found


def _kind(value: object) -> str:
    """What came: a scalar as it is; a list or mapping by its kind, since aliases can make it endlessly long."""
    return quoted(value) if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"
