"""The ranking page in a real browser: headless Chromium, driven by Playwright."""

import json
import re
import shutil
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest

from evenhand.composite.reweight import reweight
from evenhand.composite.reweighting.document import reweighting_document
from evenhand.composite.reweighting.draws import alike, leader_counts
from evenhand.composite.reweighting.form import weighted_form
from evenhand.composite.reweighting.leaders import nearest_flips
from evenhand.composite.reweighting.region import weight_region
from evenhand.composite.rule.evaluate import evaluate
from evenhand.composite.rule.parse import parse_rule
from evenhand.composite.table import Table
from evenhand.composite.verify import verify
from evenhand.report.rank_page import rank_page
from evenhand.report.rank_shares import leader_shares
from evenhand.report.visible import plain

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def chromium():
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip(f"needs a browser: none of {', '.join(BROWSERS)} is on the path")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def blank(chromium):
    """A page without a policy, to run the script's functions in."""
    return chromium.new_page()


@pytest.fixture
def open_page(chromium, tmp_path):
    """Opens a page of text in a browser that refuses every request but the file itself; complains at the end."""
    opened = []

    def opens(html, fragment="", *, width=1200, **more):
        file = tmp_path / f"page{len(opened)}.html"
        file.write_text(html, "utf-8")
        context = chromium.new_context(viewport={"width": width, "height": 900}, **more)
        page, asked, wrong = context.new_page(), [], []
        own = file.as_uri()

        def route(call):
            if call.request.url.split("#")[0] == own:
                call.continue_()
            else:
                asked.append(call.request.url)
                call.abort()

        page.route("**/*", route)
        page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.goto(own + fragment)
        page.locator("#vector:not(:empty)").wait_for(state="attached")  # not wait_for_function: the policy forbids eval
        opened.append((context, asked, wrong))
        return page

    yield opens
    for context, asked, wrong in opened:
        context.close()
        assert asked == []
        assert wrong == []


@pytest.fixture
def board():
    rng = np.random.default_rng(5)
    cells = {name: [f"{x:.1f}" for x in rng.uniform(20, 95, 14)] for name in ("acc", "cal", "spd", "cost")}
    table = Table.of_texts(cells, names=[f"system {chr(65 + k)}" for k in range(14)])
    rule = parse_rule("geomean(acc, cal, spd, cost) * gate(acc, 50, 2)")
    score = [f"{x:.1f}" for x in evaluate(rule, table).values]
    return rule, Table.of_texts({**cells, "score": score}, names=table.names)


@pytest.fixture
def html(board):
    rule, table = board
    return rank_page(rule, table, score="score", title="Board", shares=leader_shares(rule, table, n_draws=5000))


def settled(page):
    """Waits until all that a change asks for is shown."""
    page.locator("#table[aria-busy=false]").wait_for(state="attached")


def ranking(page):
    """[(rank, name, score)] as the table shows it, pinned rows left out."""
    settled(page)
    return page.evaluate(
        """() => [...document.querySelectorAll('#tbody tr:not(.pinned)')].map((row) =>
            ['.rank', '.name bdi', '.score'].map((cell) => row.querySelector(cell).textContent))"""
    )


def weights(page):
    settled(page)
    return [box.input_value() for box in page.locator("#sliders input[type=number]").all()]


def expected(rule, table, vector):
    """The same from Python: the rule's mean with other weights."""
    form = weighted_form(rule, table)
    values = form.scores(np.array([vector]))[0]
    order = sorted(range(len(values)), key=lambda k: (-values[k], k))
    return [[str(1 + place), table.names[form.rows[k]], f"{values[k]:.1f}"] for place, k in enumerate(order)]


def set_weight(page, at, value):
    page.locator("#sliders input[type=number]").nth(at).fill(str(value))
    page.locator("#sliders input[type=number]").nth(at).press("Enter")


def test_a_drag_moves_one_weight_and_the_others_give_way_in_proportion(open_page, html, board):
    page = open_page(html)
    slider = page.locator("#w0")
    box = slider.bounding_box()
    page.mouse.move(box["x"] + 9 + (box["width"] - 18) * 0.25, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 9 + (box["width"] - 18) * 0.7, box["y"] + box["height"] / 2, steps=8)
    page.mouse.up()
    found = [float(text) for text in weights(page)]
    assert found[0] == pytest.approx(0.7, abs=0.01)
    assert sum(found) == pytest.approx(1, abs=2e-3)
    assert found[1] == found[2] == found[3]
    assert ranking(page) == expected(*board, [found[0], *[(1 - found[0]) / 3] * 3])


def test_the_arrow_keys_move_a_weight(open_page, html):
    page = open_page(html)
    page.locator("#w1").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(100)
    assert weights(page)[1] == "0.270"
    assert page.evaluate("document.activeElement.id") == "w1"


def test_a_locked_weight_stays(open_page, html):
    page = open_page(html)
    page.get_by_role("button", name="Lock cal").click()
    set_weight(page, 0, 0.6)
    assert weights(page) == ["0.600", "0.250", "0.075", "0.075"]
    assert page.locator("#w1").is_disabled()
    set_weight(page, 0, 0.9)
    assert weights(page) == ["0.750", "0.250", "0.000", "0.000"]


def test_a_preset_sets_its_weights_and_prints_them(open_page, html, board):
    page = open_page(html)
    preset = page.get_by_role("button", name="Half on cost")
    assert "cost 0.5, the others 0.1667 each" in preset.inner_text()
    preset.click()
    assert ranking(page) == expected(*board, [1 / 6, 1 / 6, 1 / 6, 0.5])
    assert preset.get_attribute("aria-pressed") == "true"
    assert page.locator("#vector").inner_text() == "acc 0.1667 · cal 0.1667 · spd 0.1667 · cost 0.5"


def test_a_link_brings_the_whole_view_back(open_page, html):
    page = open_page(html)
    page.get_by_role("button", name="Lock spd").click()
    set_weight(page, 0, 0.413)
    page.select_option("#aggregator", "power")
    page.locator("#exponent").fill("-2.5")
    page.locator("#exponent").press("Enter")
    page.select_option("#gate0", "off")
    page.get_by_role("button", name="cal", exact=True).click()
    page.locator("#tbody").get_by_role("button", name="Pin system C").first.click()
    settled(page)
    fragment = page.evaluate("location.hash")
    again = open_page(html, fragment)
    for seen in (
        ranking,
        weights,
        lambda p: p.evaluate("location.hash"),
        lambda p: p.locator("tr.pinned").all_inner_texts(),
    ):
        assert seen(again) == seen(page)
    assert again.locator("#exponent").input_value() == "-2.5"
    assert again.locator("#w2").is_disabled()


def test_a_link_that_is_no_view_is_left_out(open_page, html):
    page = open_page(html, "#w=1,2&lock=99,x&mean=evil&gates=maybe&sort=__proto__&pin=-1,nan&q=%00%ff<img>")
    assert weights(page) == ["0.250"] * 4
    page.evaluate("location.hash = 'w=0.7,0.1,0.1,0.1'")
    page.wait_for_timeout(200)
    assert weights(page)[0] == "0.700"


def test_hostile_names_are_text(open_page, hostile):
    names = [hostile, "<img src=x onerror=alert(1)>", "__proto__", "constructor"]
    column = "<b onmouseover=alert(1)>c</b>"
    table = Table.of_texts({column: ["3", "2", "4", "1"], "b": ["1", "2", "1", "4"]}, names=names, source=hostile)
    page = open_page(rank_page(parse_rule(f"mean(`{column}`, b)"), table, title=hostile))
    assert {name for _, name, _ in ranking(page)} == {plain(name, 160) for name in names}
    assert page.evaluate("document.querySelectorAll('img, b[onmouseover], svg, a[href^=javascript]').length") == 0
    assert page.title() != "EXECUTED"
    set_weight(page, 0, 1)
    page.locator("#shares tr").first.wait_for(state="attached")


def test_the_mean_and_the_gate_can_be_switched(open_page, html, board):
    _, table = board
    page = open_page(html)
    page.select_option("#aggregator", "harmonic")
    assert ranking(page) == expected(parse_rule("hmean(acc, cal, spd, cost) * gate(acc, 50, 2)"), table, [0.25] * 4)
    page.select_option("#gate0", "off")
    assert ranking(page) == expected(parse_rule("hmean(acc, cal, spd, cost)"), table, [0.25] * 4)
    page.select_option("#gate0", "weighed")
    set_weight(page, 0, 0)
    assert ranking(page) == expected(parse_rule("hmean(acc, cal, spd, cost)"), table, [0, 1 / 3, 1 / 3, 1 / 3])
    page.select_option("#aggregator", "max")
    settled(page)
    assert "weights do not matter" in page.locator("#flip").inner_text()


def test_the_nearest_change_is_the_one_that_python_finds(open_page, html, board):
    rule, table = board
    page = open_page(html)
    form = weighted_form(rule, table)
    flip = nearest_flips(form, weight_region(form.labels), form.weights)[0]
    assert table.names[form.rows[flip.to]] in page.locator("#flip").inner_text()
    marks = page.evaluate(
        "[...document.querySelectorAll('.ghost:not([hidden])')].map((g) => +g.style.getPropertyValue('--at'))"
    )
    changed = [w for w, before in zip(flip.weights, form.weights, strict=True) if abs(w - before) > 1e-9]
    assert marks == pytest.approx(changed, abs=1e-9)
    page.get_by_role("button", name="Go there").click()
    assert ranking(page)[0][1] == table.names[form.rows[flip.to]]


def test_live_shares_are_those_drawn_beforehand(open_page, html):
    page = open_page(html)
    page.locator("#shares tr").first.wait_for(state="attached")
    rows = page.evaluate(
        """() => [...document.querySelectorAll('#shares tr')].map((row) =>
            [...row.querySelectorAll('td')].map((cell) => parseFloat(cell.textContent) || 0))"""
    )
    for before, live in rows:
        p = max(before, 0.1) / 100
        assert abs(before - live) / 100 <= 4 * (p * (1 - p)) ** 0.5 * (1 / 5000 + 1 / 20000) ** 0.5 + 1e-3


def test_three_free_weights_have_a_map_that_can_be_dragged(open_page, html):
    page = open_page(html)
    page.locator("#shares tr").first.wait_for(state="attached")
    assert not page.locator("#map").is_visible()
    page.get_by_role("button", name="Lock acc").click()
    page.wait_for_selector("#ternary", state="visible")
    assert "acc" not in page.locator("#ternary").get_attribute("aria-label")
    box = page.locator("#ternary").bounding_box()
    page.locator("#ternary").scroll_into_view_if_needed()
    box = page.locator("#ternary").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.07)
    page.mouse.down()
    page.mouse.up()
    found = [float(text) for text in weights(page)]
    assert found[0] == 0.25
    assert found[1] > 0.7


def test_systems_can_be_searched_pinned_and_sorted(open_page, html, board):
    page = open_page(html)
    page.locator("#search").fill("SYSTEM b")
    assert [name for _, name, _ in ranking(page)] == ["system B"]
    page.locator("#search").fill("")
    page.get_by_role("button", name="cost", exact=True).click()
    costs = dict(zip(board[1].names, board[1].column("cost").values, strict=True))
    assert [name for _, name, _ in ranking(page)] == sorted(costs, key=lambda name: -costs[name])
    assert page.locator("th[data-key=c3]").get_attribute("aria-sort") == "descending"
    page.get_by_role("button", name="cost", exact=True).click()
    settled(page)
    assert page.locator("th[data-key=c3]").get_attribute("aria-sort") == "ascending"


def test_rank_changes_are_against_the_published_scores(open_page, html, board):
    page = open_page(html)
    assert "every rank is as published" in page.locator("#first").inner_text()
    page.get_by_role("button", name="Half on spd").click()
    settled(page)
    moved = page.evaluate(
        """() => [...document.querySelectorAll('#tbody tr')].map((row) => [row.querySelector('.name bdi').textContent,
            row.querySelector('.rank').textContent, row.querySelector('.change').ariaLabel])"""
    )
    before = {name: int(rank) for rank, name, _ in expected(*board, [0.25] * 4)}
    for name, rank, words in moved:
        by = before[name] - int(rank)
        assert words == (f"up {by}" if by > 0 else f"down {-by}" if by else "unchanged")


def test_a_screen_reader_is_told_who_leads(open_page, html):
    page = open_page(html)
    page.get_by_role("button", name="Half on cost").click()
    first = ranking(page)[0][1]
    assert page.locator("#says[aria-live=polite]").inner_text().startswith(f"{first} leads with")
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll('button, input, select')].filter((e) => e.offsetParent &&
            !(e.labels && e.labels.length) && !e.getAttribute('aria-label') && !e.textContent.trim()).length"""
    )
    assert unnamed == 0


@pytest.mark.parametrize("width", [380, 1200, 2000])
def test_no_page_is_wider_than_its_window(open_page, html, width):
    page = open_page(html, width=width)
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_printed_page_shows_every_row_and_no_controls(open_page, html):
    page = open_page(html)
    page.emulate_media(media="print")
    assert page.locator("#tbody tr").count() == 14
    assert not page.locator("#w0").is_visible()
    assert page.locator("#vector").is_visible()


def test_a_refuted_rule_has_a_banner_and_marked_rows(open_page, board):
    _, table = board
    rule = parse_rule("mean(acc, cal, spd, cost)")
    page = open_page(rank_page(rule, table, score="score", verification=verify(rule, table, "score")))
    assert page.locator("#banner").is_visible()
    assert page.get_by_text("†", exact=False).count() > 1


def test_five_hundred_systems_of_twenty_columns_are_re_ranked(open_page):
    rng = np.random.default_rng(1)
    cells = {f"c{k}": [f"{x:.1f}" for x in rng.uniform(1, 99, 500)] for k in range(20)}
    table = Table.of_texts(cells, names=[f"s{k}" for k in range(500)])
    rule = parse_rule(f"geomean({', '.join(cells)})")
    page = open_page(rank_page(rule, table))
    page.get_by_role("button", name="Half on c3", exact=False).first.click()
    vector = [0.5 if k == 3 else 0.5 / 19 for k in range(20)]
    assert ranking(page) == expected(rule, table, vector)[:300]
    page.get_by_role("button", name="Show 200 more").click()
    assert len(ranking(page)) == 500


def test_names_stay_in_sight_when_a_wide_table_is_scrolled_sideways(open_page):
    rng = np.random.default_rng(2)
    cells = {f"a benchmark with a long name {k}": [f"{x:.1f}" for x in rng.uniform(1, 99, 8)] for k in range(14)}
    table = Table.of_texts(cells, names=[f"s{k}" for k in range(8)])
    page = open_page(rank_page(parse_rule("mean(" + ", ".join(f"`{name}`" for name in cells) + ")"), table))
    settled(page)
    page.evaluate("document.getElementById('scroll').scrollLeft = 700")
    page.locator("#table.aside").wait_for(state="attached")
    box, name = page.locator("#scroll").bounding_box(), page.locator("#tbody th.name").first.bounding_box()
    assert name["x"] == pytest.approx(box["x"], abs=1)
    assert page.get_by_role("button", name="a benchmark with a long name 13", exact=True).bounding_box()["height"] > 30
    set_weight(page, 13, 0.9)
    last = cells["a benchmark with a long name 13"]
    settled(page)
    shown = page.evaluate(
        """() => [...document.querySelectorAll('#tbody tr')].map((row) =>
            [row.children[3].textContent, row.lastChild.textContent])"""
    )
    assert [text for _, text in shown] == [last[int(name[1:])] for name, _ in shown]


def test_jevbench_is_re_ranked_as_python_does(open_page, shared):
    from evenhand.store.ranked.tables import TableSettings, read_ranked_table

    ranked = read_ranked_table(
        shared / "data/leaderboards/jevbench-v1.3.0.csv", TableSettings(score="score", where="listing is number")
    )
    cells = {
        name: list(ranked.columns[name].texts) for name in ("intelligence", "calibration", "speed", "cost", "score")
    }
    table = Table.of_texts(cells, names=ranked.names)
    rule = parse_rule("geomean(intelligence, calibration, speed, cost) * gate(intelligence, 50, 2)")
    page = open_page(rank_page(rule, table, score="score"))
    sixth = 1 / 6
    leaders = {
        (0.25, 0.25, 0.25, 0.25): "Jev",
        (sixth, sixth, sixth, 0.5): "SemIf",
        (0.7, 0.1, 0.1, 0.1): "GPT-5.6 Luna (low)",
        (sixth, sixth, 0.5, sixth): "djev",
        (sixth, 0.5, sixth, sixth): "Jev",
    }
    for vector, leader in leaders.items():
        page.evaluate("(text) => { location.hash = text; }", f"w={','.join(f'{w:.12f}' for w in vector)}")
        page.wait_for_timeout(150)
        found = ranking(page)
        assert found == expected(rule, table, vector)
        assert found[0][1].startswith(leader)
    page.evaluate("location.hash = ''")
    page.wait_for_timeout(200)
    assert "5.6 points from calibration to cost hand the lead to djev" in re.sub(
        r"\s+", " ", page.locator("#flip").inner_text()
    )


def jevbench(shared):
    from evenhand.store.ranked.tables import TableSettings, read_ranked_table

    path = shared / "data/leaderboards/jevbench-v1.3.0.csv"
    ranked = read_ranked_table(path, TableSettings(score="score", where="listing is number"))
    cells = {name: list(ranked.columns[name].texts) for name in ("intelligence", "speed", "cost", "score")}
    return Table.of_texts(cells, names=ranked.names), "geomean(intelligence, speed, cost) * gate(intelligence, 50, 2)"


def drawn(_):
    rng = np.random.default_rng(23)
    cells = {name: [f"{x:.2f}" for x in rng.uniform(1, 9, 40)] for name in ("a", "b", "c", "d", "score")}
    return Table.of_texts(cells, names=[f"s{k}" for k in range(40)]), "mean(a: 1, b: 2, c: 3, d: 1) * min(1, b / 5) + 3"


def half_up(value, decimals):
    """As the commands round: from the shortest decimal form."""
    return str(Decimal(str(value)).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))


def test_a_score_between_two_digits_is_rounded_as_the_commands_round_it(open_page):
    table = Table.of_texts(
        {"a": ["65.05", "2.65", "-0.25"], "b": ["65.05", "2.65", "-0.25"], "s": ["65.1", "2.7", "-0.3"]}
    )
    page = open_page(rank_page(parse_rule("mean(a, b)"), table, score="s"))
    assert [score for _, _, score in ranking(page)] == ["65.1", "2.7", "-0.3"]


@pytest.mark.parametrize("given", [jevbench, drawn])
def test_all_figures_of_the_page_are_those_of_the_commands(open_page, request, given):
    table, text = given(request.getfixturevalue("shared") if given is jevbench else None)
    rule = parse_rule(text)
    page = open_page(rank_page(rule, table, score="score", shares=leader_shares(rule, table)))
    found = reweighting_document(reweight(rule, table, score="score"))
    page.locator("#shares tr").first.wait_for(state="attached")
    decimals = int(table.column("score").decimals.max())
    assert ranking(page) == [
        [str(one["rank"]), one["name"], half_up(one["score"], decimals)] for one in found["ranking"]
    ]
    assert found["nearest_flip"]["words"] in re.sub(r"\s+", " ", page.locator("#flip").inner_text())
    shown = page.evaluate(
        """() => [...document.querySelectorAll('#shares tr')].map((row) => [row.querySelector('bdi').textContent,
            row.querySelector('td').textContent.split(' %')[0]])"""
    )
    for name, share in shown:
        places = len(share.partition(".")[2])
        assert name not in found["shares"] or share == half_up(100 * found["shares"][name]["value"], places)
    gate = next(one for one in verify(rule, table, "score").clauses if one.kind == "gate")
    assert f"changes {len(gate.rows)} of {table.n_rows} scores" in page.locator("#gates").inner_text()


RULES = {
    None: (
        "mean(a: 1, b: 2, c: 4)", "geomean(a, b, c) * min(1, c / 5)^2", "hmean(a, b, c)", "power(-2, a, b, c)",
        "power(2.5, a: 1, b: 1, c: 3)", "min(a, b, c)", "max(a, b)", "median(a, b, c)", "a + 2 * b - 0.5 * c + 3",
        "a * b * c", "winrate(a, b, c)", "rescale(mean(a, b), 100)", "percentile(mean(a, b))", "rank(mean(a, b))",
        "zscore(mean(a, c))", "minmax(geomean(a, b))", "round(mean(a, b) * 3, 1)", "clamp(mean(a, b), 20, 60)",
        "if(y == 1, mean(a, b), 7)", "mean(a, b) / (1 + c)", "mean(a, b) - c * 2", "exp(mean(a, b) / 50)",
        "floor(mean(max(a, 5), sqrt(b)))", "default(mean(a, b), 4)", "log(mean(a, b, c) + 1)",
        "sum(a: 1, b: 1, c: 4)", "100 - mean(a, b)", "mean(a, b)^2 * c", "min(50, mean(a, b), c + 20)",
    ),
    "renormalise": ("mean(a: 1, b: 2, c: 2)", "geomean(a, b, c)", "hmean(b, c)", "median(a, b, c)", "max(b, c)"),
    0.0: ("hmean(a, b, c)", "mean(a, b, c)"),
}  # fmt: skip
SCORES = """([source, data]) => new Function("data", source + `;
    const rule = ruleOf(data), gates = data.gates.map(() => "on");
    const view = { aggregator: data.aggregator, exponent: data.exponent, gates };
    return Array.from(scores(prepared(rule, view), data.weights), (v) => (Number.isNaN(v) ? null : v));`)(data)"""


@pytest.mark.parametrize(("text", "missing"), [(text, missing) for missing, texts in RULES.items() for text in texts])
def test_the_rule_in_the_browser_gives_what_python_gives(blank, root, text, missing):
    rng = np.random.default_rng(11)
    b, c = rng.uniform(1, 99, 18), rng.uniform(0, 9, 17)
    cells = {
        "a": [f"{x:.1f}" for x in rng.uniform(0, 99, 20)],
        "b": ["0.0", "", *[f"{x:.1f}" for x in b]],
        "c": ["1.0", "0.0", "n/a", *[f"{x:.1f}" for x in c]],
        "y": ["1"] * 10 + ["2"] * 10,
    }
    table, rule = Table.of_texts(cells), parse_rule(text)
    page = rank_page(rule, table, missing=missing)
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
    folder = root / "src/evenhand/report/templates"
    source = "".join((folder / name).read_text("utf-8") for name in ("rank_order.js", "rank_rule.js"))
    found = [np.nan if value is None else value for value in blank.evaluate(SCORES, [source, data])]
    np.testing.assert_allclose(found, evaluate(rule, table, missing=missing).values, rtol=1e-12, atol=1e-12)


def source_of(root):
    folder = root / "src/evenhand/report/templates"
    return "".join((folder / name).read_text("utf-8") for name in ("rank_order.js", "rank_rule.js"))


def data_of(rule, table, missing=None):
    page = rank_page(rule, table, missing=missing)
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


VECTORS = ([0.25, 0.25, 0.5], [0.6, 0.4, 0], [1, 0, 0], [0, 0, 1], [0, 0.5, 0.5], [0.2, 0.7, 0.1])
MANY_SCORES = """([source, data, vectors]) => new Function("data", "vectors", source + `;
    const rule = ruleOf(data), gates = data.gates.map(() => "on");
    const work = prepared(rule, { aggregator: data.aggregator, exponent: data.exponent, gates });
    return vectors.map((one) => Array.from(scores(work, one), (v) => (Number.isNaN(v) ? null : v)));`)(data, vectors)"""
WEIGHED = (
    "mean(a: {0}, b: {1}, c: {2})", "geomean(a: {0}, b: {1}, c: {2})", "hmean(a: {0}, b: {1}, c: {2})",
    "power(3, a: {0}, b: {1}, c: {2})", "power(0.004, a: {0}, b: {1}, c: {2})",
    "power(-0.0001, a: {0}, b: {1}, c: {2})",
    "power(1e-9, a: {0}, b: {1}, c: {2})",
    "min(40, mean(a: {0}, b: {1}, c: {2}))", "max(30, geomean(a: {0}, b: {1}, c: {2}))",
    "mean(a: {0}, b: {1}, c: {2}) / colmax(mean(a: {0}, b: {1}, c: {2}))",
    "mean(a: {0}, b: {1}, c: {2}) * mean(a: {0}, b: {1}, c: {2})",
    "mean(a: {0}, b: {1}, c: {2}) * c / 100 + mean(a: {0}, b: {1}, c: {2})",
    "m = geomean(a: {0}, b: {1}, c: {2}); (m - colmin(m)) / (colmax(m) - colmin(m))",
    "winrate(a: {0}, b: {1}, c: {2})", "rank(mean(a: {0}, b: {1}, c: {2}), ties=max)",
)  # fmt: skip


@pytest.mark.parametrize("missing", ["drop", "renormalise", 0.0], ids=str)
@pytest.mark.parametrize("text", WEIGHED)
def test_under_any_weights_the_page_gives_what_the_rule_with_these_weights_gives(blank, root, text, missing):
    cells = {
        "a": ["60", "", "80", "30", "45", "45", "0", "12"], "b": ["20", "50", "", "30", "45", "45", "70", "0"],
        "c": ["41", "77", "5", "", "39", "39", "88", "93"],
    }  # fmt: skip
    table = Table.of_texts(cells)
    data = data_of(parse_rule(text.format(0.25, 0.25, 0.5)), table, missing)
    found = blank.evaluate(MANY_SCORES, [source_of(root), data, VECTORS])
    for vector, told in zip(VECTORS, found, strict=True):
        rule = parse_rule(text.format(*vector))
        wanted = evaluate(rule, table, missing=missing).values
        np.testing.assert_allclose([np.nan if v is None else v for v in told], wanted, rtol=1e-10, err_msg=str(vector))


LEADERS = """([source, data, vectors]) => new Function("data", "vectors", source + `;
    const rule = ruleOf(data), gates = data.gates.map(() => "on"), counts = new Array(rule.n).fill(0);
    const work = prepared(rule, { aggregator: data.aggregator, exponent: data.exponent, gates });
    for (const one of vectors) {
      const first = leaders(scores(work, one), rule.sign);
      for (const i of first) counts[i] += 1 / first.length;
    }
    return counts;`)(data, vectors)"""


@pytest.mark.parametrize("missing", ["drop", "renormalise", 0.0], ids=str)
@pytest.mark.parametrize(
    "text",
    [
        "mean(a, b, c)", "geomean(a, b, c) * gate(a, 50, 2)", "min(55, mean(a, b, c))", "max(60, geomean(a, b, c))",
        "mean(a, b, c) / colmax(mean(a, b, c))", "clamp(hmean(a, b, c), 30, 50)", "winrate(a, b, c)",
        "floor(mean(a, b, c) / 10)", "100 - mean(a, b, c)", "min(70, power(2, a, b, c)) * min(1, c / 40)",
    ],
)  # fmt: skip
def test_first_place_is_shared_on_the_page_as_in_reweight(blank, root, text, missing):
    cells = {
        "a": ["60", "", "80", "30", "45", "45", "10", "52", "81"],
        "b": ["20", "50", "", "90", "45", "45", "70", "66", "2"],
        "c": ["41", "77", "5", "", "39", "39", "88", "61", "9"],
    }  # fmt: skip
    table, rule = Table.of_texts(cells), parse_rule(text)
    form = weighted_form(rule, table, missing=missing)
    vectors = np.random.default_rng(3).dirichlet(np.ones(3), 3000)
    found = blank.evaluate(LEADERS, [source_of(root), data_of(rule, table, missing), vectors.tolist()])
    group, _ = alike(form)
    counts = np.bincount(group, weights=leader_counts(form, [vectors]))[group] / np.bincount(group)[group]
    wanted = np.zeros(table.n_rows)
    wanted[form.rows] = counts
    np.testing.assert_allclose(found, wanted, atol=1e-6)
