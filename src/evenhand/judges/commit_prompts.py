"""What a judge that answers for itself sends: the task alone or with the candidate, and two texts to compare.

Where the candidate is to stay out of sight it never comes near the message: the mark that fences the task is made from
task and context, and the call has the same key whatever candidate is judged, so that all candidates of one question
share one reply. An item's reference is in no message of any kind.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evenhand.judges.fit import TEXT, entry
from evenhand.judges.prompts import Fence, FencedTexts, Prompt, Template, fill, template_text
from evenhand.keys import bare, content_key
from evenhand.matching.rules import MatchRule
from evenhand.terms import Call, Item, JudgeSpec, Message

__all__ = ["CandidatePrompt", "SamePrompt", "SolvePrompt", "form_of", "without_reference"]

_FORMS = {
    "number": "one number in digits, with its unit if it has one",
    "expression": "one mathematical expression, in LaTeX or in plain characters",
    "short_text": "a word, a name or a short phrase",
    "set": "all elements, each once, with commas between them",
    "code_output": "the output itself, character for character",
}


def without_reference(item: Item) -> Item:
    """The item as a judge may see it that must not know the answer."""
    return item if item.reference is None else replace(item, reference=None)


class SolvePrompt:
    """Asks for the judge's own answer.

    Args:
        spec: the judge file, with `commit`.
        templates: file name to text.
        rule: what an answer is.
        ask: what counts as the answer, in words of the judge file; may be empty.
    """

    def __init__(self, spec: JudgeSpec, templates: Mapping[str, str], rule: MatchRule, ask: str) -> None:
        assert spec.commit is not None
        self.is_blind = spec.commit.mode == "blind"
        asked = f"\nWhat the answer is to say, and nothing else: {ask}\n" if ask else ""
        name = "commit_blind.md" if self.is_blind else "commit_visible.md"
        system = fill(templates, name, {"ask": asked, "form": form_of(rule)})
        self._spec = spec
        self._schema = entry(work=TEXT, answer=TEXT)
        self._system = Message(role="system", text=system)
        self._repair = Template(template_text(templates, "commit_repair.md").strip("\n"), name="commit_repair.md",
                                known=("problem",))  # fmt: skip
        item = "commit_problem.md" if self.is_blind else "item.md"
        text = template_text(templates, item)
        fence = Fence(bare(content_key({"system": system, "item": text, "schema": self._schema})))
        fields = ("task", "context") if self.is_blind else ("task", "reference", "context", "candidate")
        self._texts = FencedTexts(text, name=item, fence=fence, fields=fields, needed="task")

    def call(self, item: Item, *, model: str, rerun: int, attempt: int) -> Call:
        """The call; blind, it depends on nothing of the item but task and context."""
        task, context = item.task or None, item.context or None
        texts = (task, context) if self.is_blind else (task, None, context, item.candidate)
        return _call(
            self._spec, (self._system, Message(role="user", text=self._texts.text(*texts))), self._schema, "commitment",
            model=model, rerun=rerun, attempt=attempt,
        )  # fmt: skip

    def repair(self, problem: str) -> str:
        """What the model is told about a reply that holds no commitment."""
        return self._repair.fill({"problem": problem})


class SamePrompt:
    """Asks whether two texts are the same answer, and nothing about which is right.

    The commitment's hash stands in the message, so that the call's key can exist only once the commitment does.
    """

    def __init__(self, spec: JudgeSpec, templates: Mapping[str, str]) -> None:
        system = fill(templates, "same_answer.md", {})
        texts = template_text(templates, "same_answer_texts.md")
        self._spec = spec
        self._schema = entry(same={"type": "string", "enum": ["yes", "no"]})
        self._system = Message(role="system", text=system)
        self._repair = Template(template_text(templates, "repair.md").strip("\n"), name="repair.md", known=("problem",))
        fence = Fence(bare(content_key({"system": system, "texts": texts, "schema": self._schema})))
        fields = ("task", "commitment", "own", "other")
        self._texts = FencedTexts(texts, name="same_answer_texts.md", fence=fence, fields=fields, needed="own")

    def call(self, task: str, commitment: str, own: str, other: str, *, model: str, rerun: int, attempt: int) -> Call:
        """The call.

        Args:
            commitment: hash of the commitment that `own` is.
            other: the text beside it.
        """
        text = self._texts.text(task, commitment, own, other)
        return _call(
            self._spec, (self._system, Message(role="user", text=text)), self._schema, "same_answer",
            model=model, rerun=rerun, attempt=attempt,
        )  # fmt: skip

    def repair(self, problem: str) -> str:
        """What the model is told about a reply that cannot be read."""
        return self._repair.fill({"problem": problem})


class CandidatePrompt:
    """Shows the candidate and asks for a verdict on it: what the baselines do."""

    def __init__(self, spec: JudgeSpec, templates: Mapping[str, str], ask: str) -> None:
        asked = f"\nWhat the answer is to say, and nothing else: {ask}\n" if ask else ""
        verdict = {"type": "string", "enum": ["correct", "incorrect"]}
        self._prompt = Prompt(spec, templates, values={"ask": asked}, schema=entry(reason=TEXT, verdict=verdict))
        self.repair = self._prompt.repair

    def call(self, item: Item, *, model: str, rerun: int, attempt: int) -> Call:
        """The call; an item's reference is left out."""
        return self._prompt.call(without_reference(item), model=model, rerun=rerun, attempt=attempt)


def form_of(rule: MatchRule) -> str:
    """What an answer looks like, in words for a prompt."""
    if rule.kind != "choice":
        return _FORMS[rule.kind]
    return f"one of {', '.join(rule.choices)}" if rule.choices else "the letter of one option"


def _call(
    spec: JudgeSpec, messages: tuple[Message, ...], schema: Mapping[str, Any], name: str, *, model: str, rerun: int,
    attempt: int,
) -> Call:  # fmt: skip
    return Call(
        model=model,
        messages=messages,
        schema=schema,
        schema_name=name,
        temperature=spec.temperature,
        max_tokens=spec.max_tokens,
        member=model,
        rerun=rerun,
        attempt=attempt,
    )
