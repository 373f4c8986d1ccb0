"""The page of a trace: complete, self-contained, and looked at in a real browser."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no script can be traced")

from nanlint.trace.drawing import bars, curve
from tests.tracing import SCRIPTS, trace

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.slow]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    path = folder / "nan.html"
    assert trace(folder, "--report", str(path), str(SCRIPTS / "bad" / "index_data.py")).code == 1
    return path


@pytest.mark.parametrize("section", ["code", "curves", "chain", "inputs", "fix", "repro"])
def test_the_page_has_its_sections(page: Path, section: str) -> None:
    assert f'id="{section}"' in page.read_text("utf-8")


def test_the_page_needs_nothing_else(page: Path) -> None:
    assert re.findall(r"(?:src|href)\s*=|@import|url\(|https?://", page.read_text("utf-8")) == []


def test_text_of_the_user_is_no_markup(tmp_path: Path) -> None:
    script = tmp_path / "markup.py"
    text = (SCRIPTS / "bad" / "index_data.py").read_text("utf-8")
    script.write_text(text.replace("# origin: log", "# <script>alert(1)</script>"), "utf-8")
    report = tmp_path / "nan.html"
    trace(tmp_path, "--report", str(report), str(script))
    assert "&lt;script&gt;alert(1)" in report.read_text("utf-8")
    assert "<script>" not in report.read_text("utf-8")


class TestDrawing:
    def test_a_bad_value_is_marked_where_it_is(self) -> None:
        assert "nan at 3" in curve([1, 2, 3], [1.0, 2.0, float("nan")], "loss")

    def test_a_curve_without_a_finite_value_is_drawn(self) -> None:
        assert "inf at 1" in curve([1], [float("inf")], "loss")

    def test_every_bin_has_its_bar(self) -> None:
        assert bars([3, 0, 1], "0", "1").count("<rect") == 3


def browser() -> str:
    """A browser on this machine."""
    found = os.environ.get("NANLINT_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), "")
    if not found:
        pytest.skip("there is no chromium here; install one or name it in NANLINT_BROWSER")
    return found


@pytest.mark.slow
def test_a_browser_shows_the_page(page: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=browser(), args=["--no-sandbox"])
        try:
            view = chromium.new_page(viewport={"width": 1100, "height": 900})
            complaints: list[str] = []
            view.on("console", lambda message: complaints.append(message.text))
            view.on("pageerror", lambda error: complaints.append(str(error)))
            view.goto(page.as_uri())
            view.screenshot(path=str(page.with_suffix(".png")), full_page=True)
            assert view.title() == "nanlint: step 6: `log` made -inf of finite values"
            assert view.locator("#curves svg, h2#curves ~ .curves svg").count() >= 3
            assert all(box["width"] > 100 and box["height"] > 50 for box in map(_box, view.locator("svg").all()))
            assert view.locator("ol.chain li").first.inner_text().startswith("log -inf at")
            assert view.locator("ins").last.inner_text().startswith("+    return -logits.log_softmax(-1)")
            assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            assert complaints == []
        finally:
            chromium.close()


def _box(element: object) -> dict[str, float]:
    box = element.bounding_box()  # type: ignore[attr-defined] # playwright may not be installed where types are checked
    assert box is not None
    return dict(box)
