"""What a study shows: the table, study.json, table.csv and the page."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.cli.acceptance_output import acceptance_columns, print_acceptance
from evenhand.cli.output import json_text, shown, write_text
from evenhand.cli.trust_output import outputs
from evenhand.wording import count, plural

if TYPE_CHECKING:
    from evenhand.analysis.acceptance import Acceptance
    from evenhand.analysis.comparison import Comparison
    from evenhand.analysis.validation import Validation
    from evenhand.evaluate.study import Variant
    from evenhand.store.grades import Grades

__all__ = ["print_study", "study_document", "study_rows", "with_acceptance", "write_study", "write_study_page"]


def study_rows(validations: "Sequence[Validation]") -> list[dict[str, Any]]:
    """One row a variant, the figures of the study with their intervals."""
    rows = []
    for one in validations:
        judge = one.graded.judge
        ceiling, same = one.ceiling.mean, one.ceiling.judge_on_same_targets
        per_1000 = judge.cost_per_1000
        rows.append(
            {
                "variant": judge.name, "n_items": one.graded.n, "reruns": one.graded.scores.shape[1],
                "verdict": judge.counts["verdict"], "abstained": judge.counts["abstained"],
                "failed": judge.counts["failed"],
                "rho": one.spearman.value, "rho_low": one.spearman.low, "rho_high": one.spearman.high,
                "rho_undefined": one.spearman.undefined,
                "mode_share": one.absolute.mode_share.value, "mode_share_low": one.absolute.mode_share.low,
                "mode_share_high": one.absolute.mode_share.high,
                "rerun_sd": one.noise.sd.value, "icc_one_run": one.noise.icc.value,
                "ceiling": ceiling.value, "judge_on_same_targets": None if same is None else same.value,
                "leniency": one.leniency.value, "cost_per_1000_judgements": per_1000,
                "cost_per_1000_items": None if per_1000 is None else per_1000 * one.graded.scores.shape[1],
            }
        )  # fmt: skip
    return rows


def with_acceptance(rows: list[dict[str, Any]], accepted: "Sequence[Acceptance]") -> list[dict[str, Any]]:
    """The rows with the figures of accepting and solving, where any variant has them."""
    columns = acceptance_columns(accepted)
    names = dict.fromkeys(name for own in columns.values() for name in own)
    return [{**row, **dict.fromkeys(names), **columns.get(str(row["variant"]), {})} for row in rows]


def study_document(
    variants: "Sequence[Variant]",
    validations: "Sequence[Validation]",
    comparison: "Comparison | None",
    grades: "Grades",
) -> dict[str, Any]:
    """What `--json` prints and study.json holds."""
    from evenhand.analysis.comparison_document import comparison_document
    from evenhand.analysis.validation_document import validation_document

    return {
        "schema": "evenhand.study/1",
        "truth": {"name": grades.name, "reading": grades.reading, "raters": list(grades.raters)},
        "table": study_rows(validations),
        "runs": [
            {
                "variant": variant.spec.name,
                "protocol": variant.spec.protocol,
                "models": [model.model for model in variant.spec.models],
                "judgements": variant.judged.summary["n"],
                "failed": variant.judged.summary["failed"],
                "usage": variant.judged.summary["usage"],
                "cost_usd": variant.judged.summary["cost_usd"],
            }
            for variant in variants
        ],
        "variants": [validation_document(one) for one in validations],
        "comparison": None if comparison is None else comparison_document(comparison),
    }


def print_study(
    validations: "Sequence[Validation]",
    comparison: "Comparison | None",
    accepted: "Sequence[Acceptance]",
    grades: "Grades",
) -> None:
    """One table, then what is accepted, then the differences."""
    from evenhand.cli.compare_output import print_comparison
    from evenhand.cli.output import console, hanging
    from evenhand.cli.validate_output import table
    from evenhand.report.numbers import number

    out = console()
    head = f"{plural(len(validations), 'variant')} against {shown(grades.name, 80)} ({grades.reading})"
    for part in hanging(head, out.width, 4):
        out.print(part, style="bold", overflow="fold")
    rows = [["variant", "n", "rho", "interval", "mode", "rerun SD", "ceiling", "$/1,000"]]
    for row in study_rows(validations):
        interval = "" if row["rho_low"] is None else f"[{row['rho_low']:.2f}, {row['rho_high']:.2f}]"
        rows.append(
            [
                shown(row["variant"], 22), str(row["n_items"]), _two(row["rho"]), interval,
                "-" if row["mode_share"] is None else f"{number(100 * row['mode_share'], 0)} %", _two(row["rerun_sd"]),
                _two(row["ceiling"]),
                "unknown" if row["cost_per_1000_items"] is None else f"{row['cost_per_1000_items']:.4f}",
            ]
        )  # fmt: skip
    for line in table(rows):
        out.print(line, overflow="fold")
    for one in validations:
        if one.spearman.value is None:
            out.print(f"{shown(one.graded.judge.name, 40)}: rho undefined: {one.spearman.undefined}", overflow="fold")
    lost = [one for one in validations if one.graded.judge.n != one.graded.judge.counts["verdict"]]
    for one in lost:
        judge = one.graded.judge
        out.print(
            f"{shown(judge.name, 40)}: {count(judge.n - judge.counts['verdict'])} of "
            f"{plural(judge.n, 'judgement')} without a score "
            f"(abstained {judge.counts['abstained']}, failed {judge.counts['failed']})",
            overflow="fold",
        )
    print_acceptance(accepted, out)
    if comparison is not None:
        out.print()
        print_comparison(comparison, (), f"{grades.name} ({grades.reading})")


def write_study(folder: Path, document: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
    """table.csv and study.json."""
    from evenhand.store.record_tables import spreadsheet_safe

    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow(spreadsheet_safe(cell) if isinstance(cell, str) else cell for cell in row.values())
    write_text(folder / "table.csv", text.getvalue())
    write_text(folder / "study.json", json_text(document))


def write_study_page(
    folder: Path | None,
    validations: "Sequence[Validation]",
    comparison: "Comparison | None",
    accepted: "Sequence[Acceptance]",
    plot: str | None,
) -> None:
    """report.html, and pictures of its figures; without the extra `figures` the page has tables alone, and says so."""
    from evenhand.cli.trust_output import has_figures
    from evenhand.report.comparison_page import study_content
    from evenhand.report.trust_pages import trust_page

    if has_figures():
        written = outputs("study", None if folder is None else [folder / "report.html"], plot)
        written.write({}, lambda draw: study_content(validations, comparison, accepted, draw=draw))
    elif folder is not None:
        write_text(folder / "report.html", trust_page(study_content(validations, comparison, accepted, draw=False)))


def _two(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
