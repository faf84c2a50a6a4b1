import json


def write(tmp_path, items, **more):
    (tmp_path / "evidence.json").write_text(json.dumps({"items": items, **more}), encoding="utf-8")


def item(claim, impact, **more):
    return {"claim": claim, "impact": impact, **more}


def test_padding_repetition_and_the_strongest_are_shown(evenhand, tmp_path):
    claims = ["It names no owner.", "it names no owner", "The plan has dates."]
    found = [item(claim, impact) for claim, impact in zip(claims, (-2, -2, 5), strict=True)]
    write(tmp_path, found)
    done = evenhand("score", "evidence.json", "--stress", "--json")
    assert done.code == 0, done.err
    stress = done.document["stress"]
    assert (stress["duplicates"], stress["at_caps"]) == (1, None)
    assert stress["without_duplicates"] > done.document["score"] > stress["without_strongest"]
    assert stress["strongest"] == {"claim": "The plan has dates.", "impact": 5}
    (target,) = stress["to_target"]
    assert (target["criterion"], target["target"], target["room"]) == (None, 90.0, None)


def test_each_criterion_has_its_own_way_to_90(evenhand, tmp_path):
    found = [
        item("Fast.", 3, criterion="speed", perspective="user"),
        item("Plain\x1b[31m.", 1, criterion="care", perspective="user"),
    ]
    write(tmp_path, found, weights={"speed": 0.5, "care": 0.5})
    done = evenhand("score", "evidence.json", "--stress")
    assert done.code == 0, done.err
    assert "at the caps" in done.out
    assert "8 added" in done.out
    assert "speed: " in done.out
    assert "which its cells do not hold (4 free)" in done.out
    assert "\x1b" not in done.out


def test_without_the_option_nothing_is_added(evenhand, tmp_path):
    write(tmp_path, [item("a", 1)])
    done = evenhand("score", "evidence.json", "--json")
    assert "stress" not in done.document


def test_totals_have_no_items_to_stress(evenhand):
    done = evenhand("score", "--totals", 25, 20, "--stress")
    assert done.code == 2
    assert "--stress: changes items, and totals are none" in done.err
