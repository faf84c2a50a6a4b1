from evenhand.providers.tighten import LONGEST_TEXT, tightened

TEXT = {"type": "string"}
LIMITED = {"type": "string", "maxLength": LONGEST_TEXT}


def entry(ids: list[str], **fields: dict) -> dict:
    properties = {"id": {"type": "string", "enum": ids}, **fields}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def listed(items: dict, n: int) -> dict:
    return {"type": "object", "properties": {"checks": {"type": "array", "items": items, "minItems": n, "maxItems": n}}}


def ids(schema: dict) -> list[str]:
    return [inner["properties"]["id"]["const"] for inner in schema["properties"]["checks"]["prefixItems"]]


def test_each_id_is_asked_for_once_and_in_order() -> None:
    tight = tightened(listed(entry(["b", "a", "c"], quote=TEXT), 3))
    assert ids(tight) == ["b", "a", "c"]
    checks = tight["properties"]["checks"]
    assert (checks["items"], checks["minItems"], checks["maxItems"]) == (False, 3, 3)
    assert all(inner["properties"]["quote"] == LIMITED for inner in checks["prefixItems"])
    assert all(list(inner["properties"]) == ["id", "quote"] for inner in checks["prefixItems"])


def test_entries_of_two_kinds_keep_their_fields() -> None:
    tight = tightened(listed({"anyOf": [entry(["a"], passed={"type": "boolean"}), entry(["b"], quote=TEXT)]}, 2))
    assert ids(tight) == ["a", "b"]
    assert "passed" in tight["properties"]["checks"]["prefixItems"][0]["properties"]


def test_a_list_of_any_length_or_of_fewer_ids_than_entries_keeps_its_items() -> None:
    for schema in (
        {"type": "array", "items": entry(["a", "b"])},
        {"type": "array", "items": entry(["a", "b"]), "minItems": 3, "maxItems": 3},
        {"type": "array", "items": entry(["a", "b"]), "minItems": 1, "maxItems": 2},
        {"type": "array", "items": {"type": "object", "properties": {"claim": TEXT}}, "minItems": 1, "maxItems": 1},
    ):
        assert "prefixItems" not in tightened(schema)


def test_only_texts_without_a_stated_end_get_one() -> None:
    assert tightened({"type": "object", "properties": {"a": TEXT, "b": {"type": "string", "maxLength": 9}}}) == {
        "type": "object",
        "properties": {"a": LIMITED, "b": {"type": "string", "maxLength": 9}},
    }
    assert tightened({"type": "array", "items": TEXT})["items"] == LIMITED
    assert tightened({"anyOf": [TEXT, {"type": "null"}]})["anyOf"] == [LIMITED, {"type": "null"}]


def test_a_property_may_be_called_like_a_keyword() -> None:
    schema = {"type": "object", "properties": {"items": TEXT, "enum": TEXT, "anyOf": {"type": "integer"}}}
    assert tightened(schema)["properties"] == {"items": LIMITED, "enum": LIMITED, "anyOf": {"type": "integer"}}


def test_the_given_schema_is_left_as_it_was() -> None:
    schema = listed(entry(["a"], quote=TEXT), 1)
    tightened(schema)
    assert schema == listed(entry(["a"], quote={"type": "string"}), 1)
