"""Evidence files: every form that is read, and one sentence for each that is not."""

from decimal import Decimal

import pytest

from evenhand.errors import InvalidInput
from evenhand.store.evidence_files import parse_evidence, read_evidence


def impacts(text, **how):
    return [item.impact for item in parse_evidence(text, name="f", **how).items]


def test_a_list_of_items_is_read_with_all_its_fields():
    text = (
        '[{"impact": -3, "claim": "c", "quote": "q", "criterion": "craft", "perspective": "sme", "pass": "code"},'
        ' {"impact": 5}]'
    )
    found = parse_evidence(text, name="f")
    first = found.items[0]
    assert (first.impact, first.claim, first.quote) == (-3, "c", "q")
    assert (first.criterion, first.perspective, first.pass_name) == ("craft", "sme", "code")
    assert found.places == ("[0]", "[1]")
    assert found.weights is None


def test_items_with_weights_are_read_with_exact_decimals():
    text = '{"items": [{"impact": 3, "criterion": "a"}], "weights": {"a": 0.1, "b": 0.9}}'
    found = parse_evidence(text, name="f", suffix=".json")
    assert found.weights == {"a": Decimal("0.1"), "b": Decimal("0.9")}
    assert found.places == ("items[0]",)


def test_four_buckets_are_one_pool_in_their_own_order():
    text = '{"confusing": [{"value": -1}], "missing": [{"value": -5}], "working": [{"value": 3, "text": "t"}]}'
    found = parse_evidence(text, name="f")
    assert [item.impact for item in found.items] == [3, -5, -1]
    assert found.items[0].claim == "t"
    assert found.places == ("working[0]", "missing[0]", "confusing[0]")


def test_anything_may_be_nested_under_evidence():
    assert impacts('{"evidence": {"working": [{"value": 3}]}}') == [3]
    assert impacts('{"evidence": {"items": [{"impact": 3}]}}') == [3]
    assert impacts('{"evidence": [{"impact": 3}]}') == [3]
    found = parse_evidence('{"slug": "x", "evidence": [], "weights": {"a": 1}}', name="f")
    assert found.weights == {"a": 1}
    assert found.notes == ("f: not read: 'slug'",)


def test_jsonl_is_one_item_a_line_and_may_hold_one_line_of_weights():
    text = '{"impact": 3, "criterion": "a"}\r\n\n{"weights": {"a": 1}}\n{"impact": -1, "criterion": "a"}'
    for how in ({"suffix": ".jsonl"}, {}):
        found = parse_evidence(text, name="f", **how)
        assert [item.impact for item in found.items] == [3, -1]
        assert found.places == ("line 1", "line 4")
        assert found.weights == {"a": 1}


def test_one_line_of_jsonl_may_be_the_whole_document():
    assert impacts('{"working": [{"value": 3}]}\n', suffix=".jsonl") == [3]
    assert impacts('[{"impact": 3}]\n', suffix=".jsonl") == [3]
    assert impacts('{"impact": 3}\n', suffix=".jsonl") == [3]


def test_yaml_is_read_with_signs_comments_and_exact_weights():
    text = "# found\nweights: {a: 0.3, b: 0.7}\nitems:\n  - {impact: +3, criterion: a, claim: 2024-01-01}\n"
    for how in ({"suffix": ".yaml"}, {"suffix": ".yml"}, {}):
        found = parse_evidence(text, name="f", **how)
        assert found.items[0].impact == 3
        assert found.items[0].claim == "2024-01-01"
        assert found.weights == {"a": Decimal("0.3"), "b": Decimal("0.7")}


def test_three_point_zero_is_three_and_a_numbered_pass_its_digits():
    found = parse_evidence('[{"impact": 3.0, "pass": 2}]', name="f")
    assert (found.items[0].impact, found.items[0].pass_name) == (3, "2")


def test_items_out_of_a_record_keep_whether_they_count():
    text = '[{"impact": 3, "counted": false, "quote_status": "absent", "span": null, "gap": null}]'
    found = parse_evidence(text, name="f")
    assert not found.items[0].counted
    assert found.notes == ()


def test_fields_that_are_not_read_are_said_once():
    found = parse_evidence('[{"impact": 3, "author": "x"}, {"impact": 3, "author": "y"}]', name="f")
    assert found.notes == ("f: not read: 'author'",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"impact": 4}]', r"f: \[0\]\.impact is 4; expected one of \+5, \+3, \+2, \+1, -1, -2, -3, -5$"),
        ('[{"impact": 1}, {"impact": "3"}]', r"\[1\]\.impact is the text '3'; .*without quotation marks"),
        ('[{"impact": true}]', "impact is true"),
        ('[{"impact": null}]', "impact is null"),
        ('[{"impact": NaN}]', "impact is NaN"),
        ('[{"impact": -Infinity}]', "impact is -Infinity"),
        ('[{"impact": 1e400}]', r"impact is 1E\+400"),
        ('[{"impact": 1e99999999999999999999}]', "impact is Infinity"),
        ('[{"impact": 2.5}]', r"impact is 2\.5"),
        ('[{"impact": ' + "9" * 50 + "}]", "an integer of more than 40 digits"),
        ('[{"impact": ' + "9" * 5000 + "}]", r"impact is 9{40}\.\.\."),
        ('[{"impact": [3]}]', "impact is a list"),
        ('[{"claim": "x"}]', r"\[0\] has no `impact`; it has 'claim'"),
        ('[{"value": 3}]', "has no `impact`; it has 'value'"),
        ("[{}]", "it has nothing"),
        ("[3]", r"\[0\] is 3; expected an object with `impact`"),
        ('[{"impact": 3, "impact": -3}]', r"\[0\]: the key 'impact' stands twice"),
        ('{"items": [], "items": []}', "the key 'items' stands twice"),
        ('[{"impact": 3, "critereon": "a"}]', "'critereon' is unknown; did you mean 'criterion'"),
        ('[{"impact": 3, "claim": 7}]', r"\[0\]\.claim is 7; expected text"),
        ('[{"impact": 3, "criterion": " "}]', "expected a name"),
        ('[{"impact": 3, "criterion": ["a"]}]', "criterion is a list"),
        (r'[{"impact": 3, "claim": "\ud800"}]', "lone surrogates"),
        ('[{"impact": 3, "counted": "no"}]', "counted is the text 'no'"),
        ('{"items": {"impact": 3}}', "items is an object; expected a list"),
        ('{"items": [], "notes": []}', "the key notes is unknown"),
        ('{"items": [], "working": []}', "the key working is unknown"),
        ('{"working": [], "broken": []}', "the bucket broken is unknown; expected working"),
        ('{"wroking": []}', "holds 'wroking'; expected `items`, or the buckets"),
        ('{"working": [], "mising": []}', "did you mean 'missing'"),
        ('{"working": {"value": 3}}', "working is an object; expected a list"),
        ('{"working": [{"value": -3}]}', r"working\[0\]\.value is -3; expected one of \+5.*the sign is written"),
        ('{"missing": [{"value": 3}]}', r"missing\[0\]\.value is 3; expected one of -1.*the sign is written"),
        ('{"confusing": [{"value": -5}]}', r"confusing\[0\]\.value is -5; expected one of -1, -2, -3$"),
        ('{"working": [{"impact": 3}]}', "has no `value`"),
        ('{"evidence": [], "items": []}', "items stands beside `evidence`"),
        ('{"evidence": {"evidence": []}}', "evidence holds 'evidence'"),
        ('{"evidence": 3}', "evidence is 3"),
        ("{}", "the document holds nothing"),
        ("[", "is no JSON"),
        ('"text"', "the document is the text"),
        ("[" * 100_000, "nested too deeply"),
        ('{"items": [], "weights": [0.5]}', "weights is a list"),
        ('{"items": [], "weights": {}}', "weights is an object"),
        ('{"items": [], "weights": {"a": "1"}}', r"weights\.a is the text '1'"),
        ('{"items": [], "weights": {"a": true}}', r"weights\.a is true"),
        ('{"items": [], "weights": {"a": NaN}}', r"weights\.a is NaN"),
        ('{"items": [], "weights": {"a": 1e-999999}}', r"weights\.a is 1E-999999"),
        ('{"items": [], "weights": {"a": 0.5, "a": 0.5}}', "weights: the key 'a' stands twice"),
        ('{"items": [], "weights": {"": 1}}', "expected the name of a criterion"),
        ('{"weights": {"a": 1}, "evidence": {"items": [], "weights": {"a": 1}}}', "a second time"),
        (" \n\t", "is empty"),
    ],
)
def test_what_is_no_evidence_is_refused_by_place(text, said):
    suffix = ".json" if not text.startswith('"') else ".yaml"
    with pytest.raises(InvalidInput, match=said):
        parse_evidence(text, name="f", suffix=suffix)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- impact: .nan", r"\[0\]\.impact is NaN"),
        ("- impact: -.inf", "impact is -Infinity"),
        ("- impact: '3'", "the text '3'"),
        ("- impact: yes", "impact is true"),
        ("- impact: 1:30", "the text '1:30'"),
        ("- impact: 0x3", "the text '0x3'"),
        ("- {impact: 3, impact: 5}", "the key 'impact' stands twice"),
        ("- &a {impact: 3}\n- {<<: *a}", "the key '<<' is not a plain name"),
        ("- {3: 3}", "the key '3' is not a plain name"),
        ("- !!python/object:os.system {}", "is no YAML that is read here"),
        ("- &a [*a]", r"\[0\] is a list"),
        ("&a {items: *a}", "recursive|items is an object"),
        ("- {impact: 3\n", "line 2|line 1"),
        ("- impact: 3\n---\n- impact: 3", "another document"),
        ("# only a comment", "the document is null"),
        ("- " * 5000 + "x", "nest"),
        ("- {impact: 3, claim: !!binary aGVsbG8=}", "claim is a bytes"),
    ],
)
def test_what_yaml_makes_of_it_is_refused_too(text, said):
    with pytest.raises(InvalidInput, match=said):
        parse_evidence(text, name="f", suffix=".yaml")


def test_a_broken_line_of_jsonl_is_named():
    with pytest.raises(InvalidInput, match="f line 3: is no JSON"):
        parse_evidence('{"impact": 3}\n\n{"impact": \n', name="f", suffix=".jsonl")
    with pytest.raises(InvalidInput, match="line 2 has no `impact`"):
        parse_evidence('{"impact": 3}\n{"items": []}', name="f", suffix=".jsonl")
    with pytest.raises(InvalidInput, match=r"name it \.jsonl"):
        parse_evidence('{"impact": 3}\n{"impact": 3}', name="f", suffix=".json")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b'[{"impact": 3, "claim": "\xff"}]', "not UTF-8"),
        (b'[{"impact": 3}]\0', "NUL"),
    ],
)
def test_bytes_that_are_no_text_are_refused(tmp_path, data, said):
    path = tmp_path / "e.json"
    path.write_bytes(data)
    with pytest.raises(InvalidInput, match=rf"e\.json.*{said}"):
        read_evidence(path)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    path = tmp_path / "e.json"
    path.write_bytes(b'\xef\xbb\xbf[{"impact": 3}]')
    assert read_evidence(path).items[0].impact == 3


def test_missing_file_and_folder_are_refused(tmp_path):
    with pytest.raises(InvalidInput, match="no such file"):
        read_evidence(tmp_path / "none.json")
    with pytest.raises(InvalidInput, match="is a folder"):
        read_evidence(tmp_path)


def test_ten_thousand_items_are_read_from_yaml_aliases_without_growth():
    text = "- &a {impact: 3, claim: x}\n" + "- *a\n" * 9_999
    assert len(parse_evidence(text, name="f", suffix=".yaml").items) == 10_000


@pytest.mark.parametrize("text", ["claim,impact\nIt works.,3\n", 'claim: x, "a: b"\n  ,3: [\n'])
def test_a_file_of_another_ending_that_cannot_be_read_is_told_the_endings(text):
    with pytest.raises(InvalidInput, match=r"files that end in \.json, \.jsonl, \.ndjson, \.yaml or \.yml$"):
        parse_evidence(text, name="ev.csv", suffix=".csv")
    with pytest.raises(InvalidInput) as without:
        parse_evidence(text, name="standard input")
    assert "files that end" not in str(without.value)


def test_an_unknown_ending_is_no_fault_by_itself():
    assert parse_evidence("- {impact: 3, claim: It works.}", name="ev.txt", suffix=".txt").items[0].impact == 3
