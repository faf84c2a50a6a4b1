"""Judge files: YAML (or JSON) to a JudgeSpec, strictly, with every error named by line and field.

    spec = read_judge("judge.yaml")
    document = judge_document(spec)         plain JSON, exact numbers as text: what the store keeps
    judge_from_document(document) == spec

Unknown keys are refused, and so are keys that the protocol would not read: a setting that does nothing misleads.
Weights and levels are exact decimals. What a formula or a protocol needs beyond that, it checks itself.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast

from evenhand.identity import rubric_document
from evenhand.store.documents import Value, plain_document, read_document
from evenhand.store.judge_keys.commit import COMMIT_KEYS, COMMIT_ONLY_FOR, COMMIT_USUAL, commit_of
from evenhand.store.judge_keys.criteria import criteria_of, unique
from evenhand.store.judge_keys.detectors import impact_of
from evenhand.store.judge_keys.models import model_document, models_of
from evenhand.store.judge_keys.pipeline import (
    PIPELINE_KEYS,
    PIPELINE_ONLY_FOR,
    PIPELINE_USUAL,
    with_pipeline,
)
from evenhand.terms import CatalogEntry, Example, JudgeSpec

__all__ = ["PROTOCOLS", "judge_document", "judge_from_document", "judge_from_rubric", "read_judge"]

PROTOCOLS = (
    "number",
    "anchored",
    "checklist",
    "evidence",
    "reference",
    "pairwise",
    "commit",
    "anchored_verdict",
    "solve_first",
)
_KEYS = (
    "name",
    "protocol",
    "models",
    "reruns",
    "temperature",
    "max_tokens",
    "criteria",
    "scoring",
    "layout",
    "perspectives",
    "catalog",
    "examples",
    "folder",
    *PIPELINE_KEYS,
    *COMMIT_KEYS,
)
_USUAL = {
    "model": "models",
    "rubric": "criteria",
    "criterion": "criteria",
    "type": "protocol",
    "method": "protocol",
    "id": "name",
    "repeats": "reruns",
    "epochs": "reruns",
    "catalogue": "catalog",
    "few_shot": "examples",
    "settings": "scoring",
    **PIPELINE_USUAL,
    **COMMIT_USUAL,
}
_ONLY_FOR = {
    "scoring": ("evidence", "reference"),
    "layout": ("evidence",),
    "perspectives": ("evidence",),
    "catalog": ("evidence",),
    "examples": ("anchored",),
    **PIPELINE_ONLY_FOR,
    **COMMIT_ONLY_FOR,
}


def read_judge(path: str | Path) -> JudgeSpec:
    """Read a judge file.

    Args:
        path: a YAML file, or a JSON one if it ends in .json.
    Raises:
        InvalidInput: file, line, field, what came, what was expected, and the way out.
    """
    return _judge(read_document(path), default_name=Path(path).stem)


def judge_document(spec: JudgeSpec) -> dict[str, Any]:
    """A judge as plain JSON in the form of a judge file, with exact numbers as text; what is empty is left out."""
    document: dict[str, Any] = {
        "name": spec.name,
        "models": [model_document(model) for model in spec.models],
        "reruns": spec.reruns,
    }
    document.update(_rubric(rubric_document(spec)))
    if spec.folder != "files":
        document["folder"] = spec.folder
    if spec.escalate:
        document["escalate"]["to"] = [model_document(model) for model in spec.escalate.to]
    return document


def judge_from_document(document: Mapping[str, Any]) -> JudgeSpec:
    """The judge of a document that `judge_document` made.

    Raises:
        InvalidInput: it is no such document.
    """
    return _judge(plain_document(document, "stored judge"), default_name="judge")


def judge_from_rubric(rubric: Mapping[str, Any]) -> JudgeSpec:
    """The judge of a document that `identity.rubric_document` made; it has no models, and its name is `judge`.

    Raises:
        InvalidInput: it is no such document.
    """
    return judge_from_document(_rubric(rubric))


def _rubric(rubric: Mapping[str, Any]) -> dict[str, Any]:
    """What a judge's hash names, in the form of a judge file."""
    protocol = rubric["protocol"]
    document: dict[str, Any] = {
        "protocol": protocol,
        "temperature": rubric["temperature"],
        "max_tokens": rubric["max_tokens"],
        "criteria": [_criterion_document(criterion, protocol) for criterion in rubric["criteria"]],
    }
    for name in ("scoring", "perspectives", "catalog", "examples"):
        if rubric[name]:
            document[name] = rubric[name]
    document.update({name: rubric[name] for name in (*PIPELINE_KEYS, *COMMIT_KEYS) if name in rubric})
    if protocol == "evidence":
        document["layout"] = rubric["layout"]
    return document


def _judge(document: Value, default_name: str) -> JudgeSpec:
    """A document as a judge."""
    entries = document.entries(_KEYS, _USUAL)
    if "protocol" not in entries:
        document.refuse(f"is missing; write one of {', '.join(PROTOCOLS)}", "protocol")
    protocol = entries["protocol"].choice(*PROTOCOLS)
    for name, protocols in _ONLY_FOR.items():
        if name in entries and protocol not in protocols:
            *others, last = protocols
            readers = f"protocols {', '.join(others)} and {last}" if others else f"protocol {last}"
            entries[name].refuse(f"is read by the {readers} only, and this judge's is {protocol}: take it out")
    criteria = criteria_of(document, entries.get("criteria"), protocol)
    perspectives = unique(entries["perspectives"], "perspective") if "perspectives" in entries else ()
    matrix = protocol == "evidence" and (bool(perspectives) or len(criteria) > 1)
    layout = entries["layout"].choice("pooled", "matrix") if "layout" in entries else ("matrix" if matrix else "pooled")
    if layout == "matrix" and not criteria:
        entries.get("layout", document).refuse("a matrix has a pool per criterion; write criteria, or layout: pooled")
    spec = JudgeSpec(
        name=entries["name"].text() if "name" in entries else default_name,
        protocol=protocol,
        models=models_of(entries["models"]) if "models" in entries else (),
        reruns=entries["reruns"].whole(1) if "reruns" in entries else 1,
        temperature=_temperature(document),
        max_tokens=entries["max_tokens"].whole(1) if "max_tokens" in entries else 2048,
        criteria=criteria,
        scoring=_scoring(entries["scoring"]) if "scoring" in entries else {},
        layout=cast("Literal['pooled', 'matrix']", layout),
        perspectives=perspectives,
        catalog=_catalog(entries["catalog"]) if "catalog" in entries else (),
        examples=tuple(_example(value) for value in entries["examples"].items()) if "examples" in entries else (),
        folder=_folder(entries.get("folder")),
        commit=commit_of(document, entries) if protocol == "commit" else None,
    )
    return with_pipeline(spec, entries)


def _temperature(document: Value) -> float | None:
    """The temperature: 0 where the file is silent, None where it says null."""
    value = dict(document.pairs).get("temperature")
    if value is None:
        return 0.0
    if value.kind == "null":
        return None
    number = value.number()
    if not 0 <= number <= 2:
        value.refuse(f"expected a number from 0 to 2, or null to leave it to the endpoint; came {number}")
    return float(number)


def _folder(value: Value | None) -> Literal["files", "repository"]:
    """What a folder is; a file an item unless said."""
    chosen = "files" if value is None else value.choice("files", "repository")
    return cast("Literal['files', 'repository']", chosen)


def _scoring(value: Value) -> dict[str, Any]:
    """Formula settings: exact numbers and words, whose names the formula checks."""
    if value.kind != "mapping":
        value.refuse(f"expected a mapping of formula settings, such as {{variant: ranked}}; came {value.came()}")
    return {name: inner.number() if inner.is_number() else inner.text() for name, inner in value.pairs}


def _catalog(value: Value) -> tuple[CatalogEntry, ...]:
    """The findings with fixed impacts."""
    entries: list[CatalogEntry] = []
    for element in value.items():
        keys = element.entries(("id", "claim", "impact"), {"name": "id", "text": "claim", "value": "impact"})
        for name in ("id", "claim", "impact"):
            if name not in keys:
                element.refuse("is missing; an entry has id, claim and impact", name)
        entry = CatalogEntry(id=keys["id"].text(), claim=keys["claim"].text(), impact=impact_of(keys["impact"]))
        if any(entry.id == other.id for other in entries):
            keys["id"].refuse(f"{entry.id!r} stands in the catalog twice; ids must differ")
        entries.append(entry)
    return tuple(entries)


def _example(value: Value) -> Example:
    """A graded candidate."""
    entries = value.entries(("candidate", "level", "reason"), {"text": "candidate", "answer": "candidate"})
    for name in ("candidate", "level"):
        if name not in entries:
            value.refuse("is missing; an example has candidate, level and reason", name)
    reason = entries["reason"].text() if "reason" in entries and entries["reason"].written.strip() else ""
    return Example(candidate=entries["candidate"].text(), level=entries["level"].whole(), reason=reason)


def _criterion_document(criterion: dict[str, Any], protocol: str) -> dict[str, Any]:
    """A criterion in the form of a judge file."""
    document = {name: criterion[name] for name in ("id", "weight", "levels") if criterion[name] is not None}
    if criterion["ask"]:
        document["ask"] = criterion["ask"]
    if criterion["level_texts"]:
        document["levels"] = criterion["level_texts"]
    if protocol == "checklist":
        document["map"] = criterion["map"]
    if criterion["checks"]:
        document["checks"] = criterion["checks"]
    if "needs" in criterion:
        document["needs"] = criterion["needs"]
    return document
