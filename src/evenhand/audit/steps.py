"""How the environment is entered: one command, or several where a harness works in steps.

    enter: docker run --rm -i my/image                       one command, as text or as a list of words
    enter: ["docker exec -i one", "docker exec -i two"]      several, each as text of more than one word
    enter: [{step: fix, enter: docker exec -i one}, {step: review, enter: [docker, exec, -i, two]}]

A list of single words is one command, as it has always been; a step whose command is one word is written as a mapping.
"""

import shlex
from dataclasses import dataclass

from evenhand.store.documents import Value
from evenhand.store.text_files import quoted

__all__ = ["Step", "command_words", "read_steps"]

_MOST_STEPS = 100
_USUAL = {"name": "step", "id": "step", "command": "enter", "image": "enter"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One phase in which a candidate works.

    Args:
        name: as findings and evidence name it; "" where the environment is entered once.
        enter: the words of the command that runs what stands after it inside.
    """

    name: str
    enter: tuple[str, ...]


def read_steps(value: Value) -> tuple[Step, ...]:
    """The steps of `enter`, in order; one without a name where a single command stands there.

    Raises:
        InvalidInput: no command, a step without one, or a name twice, with its place.
    """
    if value.kind != "list" or not value.elements or not all(_is_step(element) for element in value.elements):
        if value.kind == "list" and any(element.kind != "scalar" for element in value.elements):
            value.refuse("holds steps beside single words; write every step as a mapping of step and enter")
        return (Step(name="", enter=command_words(value)),)
    if len(value.elements) > _MOST_STEPS:
        value.refuse(f"{len(value.elements)} steps; at most {_MOST_STEPS} are probed")
    steps = tuple(_step(element, number) for number, element in enumerate(value.elements, start=1))
    names = [step.name for step in steps]
    for element, name in zip(value.elements, names, strict=True):
        if names.count(name) > 1:
            element.refuse(f"the step {quoted(name)} stands here twice; names must differ")
    return steps


def command_words(value: Value) -> tuple[str, ...]:
    """A command as a list of words, or as one text that is split as a shell would, without running one.

    Raises:
        InvalidInput: no word, or a text that cannot be split, with its place.
    """
    if value.kind == "list":
        words = tuple(element.written if element.kind == "scalar" else element.text() for element in value.items())
    else:
        try:
            words = tuple(shlex.split(value.text()))
        except ValueError as error:
            value.refuse(f"cannot be split into words ({error}); write it as a list")
    if not words or not words[0].strip():
        value.refuse(f"expected a command; came {'an empty list' if not words else 'an empty word'}")
    return words


def _is_step(element: Value) -> bool:
    """A mapping, or a text of several words; a single word is part of a command."""
    return element.kind == "mapping" or (element.kind == "scalar" and len(element.written.split()) > 1)


def _step(element: Value, number: int) -> Step:
    if element.kind == "scalar":
        return Step(name=f"step {number}", enter=command_words(element))
    found = element.entries(("step", "enter"), _USUAL)
    if "enter" not in found:
        element.refuse("is missing; give the command that enters this step", "enter")
    return Step(name=found["step"].text() if "step" in found else f"step {number}", enter=command_words(found["enter"]))
