"""The page of an audit: nothing foreign is markup, nothing is fetched, and each verdict opens its evidence."""

import re
import shutil
from pathlib import Path

import pytest

from evenhand.audit.config import read_config
from evenhand.audit.running import Settings, run_audit
from evenhand.report.audit_page import audit_page
from evenhand.report.pages import MOST_BYTES

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "audit"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def document() -> dict[str, object]:
    return run_audit(read_config(EXAMPLES / "naive.yaml"), Settings(control_items=20)).document()


def test_each_verdict_opens_its_evidence_without_a_script(document: dict[str, object]) -> None:
    page = audit_page([document])
    assert "<script" not in page
    assert page.count("<summary>Evidence for") == 3  # C4 has none to open: no suite is described
    assert page.count("<summary>What C") == 4
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page
    assert not re.search(r'(?:src|href)="https?:', page)


def test_foreign_text_is_never_markup(document: dict[str, object]) -> None:
    page = audit_page([{**document, "name": "<img src=x onerror=alert(1)>", "config": "\u202e<b>.yaml"}])
    assert "<img" not in page
    assert "<b>.yaml" not in page
    assert "\u202e" not in page


def test_a_page_of_many_audits_stays_below_its_bound(document: dict[str, object]) -> None:
    page = audit_page([document] * 60)
    assert len(page.encode()) <= MOST_BYTES
    assert "verifiable: 60 configurations" in page


@pytest.mark.parametrize("width", [380, 1280])
def test_the_page_fits_its_width_with_all_evidence_open(
    document: dict[str, object], tmp_path: Path, width: int
) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip(f"needs a browser: none of {', '.join(BROWSERS)} is on the path")
    (tmp_path / "page.html").write_text(audit_page([document]))
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 900})
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(f"file://{tmp_path / 'page.html'}")
        assert page.locator("details[open]").count() == 0
        for summary in page.locator("summary").all():
            summary.click()
        assert page.locator("details[open]").count() == page.locator("details").count() == 7
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert complaints == []
        browser.close()
