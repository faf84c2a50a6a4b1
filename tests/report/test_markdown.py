"""Markdown for a pull request: nothing of a candidate becomes a link, a mention, a tag or a table's edge."""

import re

from evenhand.report.markdown import report_markdown

EVIL = (
    "@everyone #1 [x](javascript:alert(1)) <img src=x onerror=alert(1)> ![i](http://evil.invalid/i.png) | a"
    "\n\n# head `` ` ``"
)


def outside_code(text):
    """What is left when code blocks and code spans are taken out, as a reader of Markdown does."""
    text = re.sub(r"^(`{3,})text\n.*?^\1$", "", text, flags=re.M | re.S)
    return re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


def test_foreign_text_stands_in_code_only(record, report):
    records = [
        record(item=EVIL, quote=EVIL, check=EVIL, flags=(EVIL,), member=EVIL),
        record(item=EVIL, status="failed", cause={"code": "unreadable", "message": EVIL, "raw_key": None}),
        record(item=EVIL, status="abstained", reason=EVIL, text=EVIL),
    ]
    made = report_markdown(report(records, title=EVIL))
    left = outside_code(made)
    assert not re.search(r"@|javascript|<img|evil|\[x\]", left)
    assert "# head" not in left


def test_a_table_keeps_its_columns(record, report):
    made = report_markdown(report([record(check="a|b", member="m|n")]))
    for table in re.findall(r"(?:^\|.*\n)+", made, re.M):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1


def test_caveats_counts_and_arithmetic_are_there(record, report):
    made = report_markdown(report([record(), record(item="b", quote="invented")]))
    assert made.index("quotations do not stand") < made.index("| Rater" if "| Rater" in made else "| Judge")
    assert "counted      1 of 1 check: fact" in made
    assert "(NOT in the text)" in made
