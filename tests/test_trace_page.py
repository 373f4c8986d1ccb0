"""The page of a trace: complete, self-contained, and looked at in a real browser."""

from __future__ import annotations

import os
import re
import shutil
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no script can be traced")

import torch

from nanlint.plot.axis import Axis
from nanlint.plot.draw import figure
from nanlint.trace.batch_rows import rows_of
from nanlint.trace.page import bars
from tests.tracing import SCRIPTS, trace

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.slow]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    path = folder / "nan.html"
    words = ("--report", str(path), "--save-batch", str(folder / "batch.pt"), str(SCRIPTS / "bad" / "index_data.py"))
    assert trace(folder, *words).code == 1
    return path


@pytest.mark.parametrize(
    "section", ["code", "curves", "chain", "frames", "batch", "inputs", "fix", "repro", "sources", "environment"]
)
def test_the_page_has_its_sections(page: Path, section: str) -> None:
    assert f'id="{section}"' in page.read_text("utf-8")


def test_the_page_needs_nothing_else(page: Path) -> None:
    assert re.findall(r"src\s*=|href\s*=(?!\"#)|@import|url\(|https?://", page.read_text("utf-8")) == []


def test_every_link_of_chain_and_calls_leads_to_its_lines(page: Path) -> None:
    text = page.read_text("utf-8")
    links = re.findall(r'href="#([^"]+)"', text)
    assert len(links) >= 5
    assert set(links) <= set(re.findall(r'id="([^"]+)"', text))


def test_the_page_says_what_was_run_with_what_and_when(page: Path) -> None:
    rows = dict(re.findall(r"<tr><th>(\w+)</th><td>(.*?)</td></tr>", page.read_text("utf-8")))
    assert rows["command"].endswith("bad/index_data.py")
    assert rows["torch"] == torch.__version__
    assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ", rows["date"])
    assert rows["device"].startswith("cpu") or torch.cuda.is_available()


def test_updates_and_results_have_a_line_for_each_layer(page: Path) -> None:
    text = page.read_text("utf-8")
    (updates,) = re.findall(r'aria-label="update over weight, by layer">(.*?)</svg>', text)
    assert re.findall(r">(\d\.weight)<", updates) == ["2.weight", "0.weight"]
    assert updates.count("<polyline") == 2


def test_the_batch_is_told_and_saved(page: Path) -> None:
    saved = torch.load(page.with_name("batch.pt"))
    assert saved["inputs"].shape == (16, 4)
    low, high = (f"{value:.4g}" for value in (saved["inputs"].min().item(), saved["inputs"].max().item()))
    assert f"<td>inputs</td><td>(16, 4)</td><td>float32</td><td>[{low}, {high}]</td>" in page.read_text("utf-8")


def test_rows_that_stand_out_are_named() -> None:
    batch = torch.ones(6, 3)
    assert rows_of(batch) == ""
    batch[4, 1] = 1e6
    assert rows_of(batch) == "row 4 reaches 1e+06, the median row 1"
    batch[2, 0] = torch.nan
    assert rows_of(batch) == "not finite in column 0 (row 2 of 6)"


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
        assert "nan at step 3" in figure("loss", {"loss": [(1, 1.0), (2, 2.0), (3, float("nan"))]})

    def test_a_curve_without_a_finite_value_is_drawn(self) -> None:
        assert "inf at step 1" in figure("loss", {"loss": [(1, float("inf"))]})

    def test_a_wide_curve_is_logarithmic_with_powers_of_ten_beside_it(self) -> None:
        drawn = figure("loss", {"loss": [(step, 10.0**step) for step in range(8)]})
        assert "(logarithmic)" in drawn
        assert re.findall(r'text-anchor="end">(1e\+\d+|\d+)<', drawn) == ["1", "100", "1e+04", "1e+06"]

    @pytest.mark.parametrize(
        ("low", "high", "ticks"),
        [
            (0.0, 1.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
            (-3.0, 7.0, [-2.0, 0.0, 2.0, 4.0, 6.0]),
            (5.0, 5.0, [5.0]),
            (-1e308, 1.7e308, [-1e308]),
        ],
    )
    def test_ticks_are_round_numbers(self, low: float, high: float, ticks: list[float]) -> None:
        assert Axis(low, high).ticks() == pytest.approx(ticks)

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
            _see_the_axes(view)
            _see_light_and_dark(view, page)
            assert complaints == []
        finally:
            chromium.close()


def _see_the_axes(view: Any) -> None:
    """Numbers beside an axis are large enough to read, and none covers another."""
    for picture in view.locator(".curves svg").all():
        boxes = [_box(text) for text in picture.locator("text").all()]
        assert all(box["height"] >= 9 for box in boxes)
        assert not [pair for pair in combinations(boxes, 2) if _overlap(*pair)]


def _overlap(one: dict[str, float], other: dict[str, float]) -> bool:
    across = min(one["x"] + one["width"], other["x"] + other["width"]) - max(one["x"], other["x"])
    down = min(one["y"] + one["height"], other["y"] + other["height"]) - max(one["y"], other["y"])
    return across > 1 and down > 3


def _see_light_and_dark(view: Any, page: Path) -> None:
    """Text stands out from what is behind it, in both."""
    seen = {}
    for scheme in ("light", "dark"):
        view.emulate_media(color_scheme=scheme)
        seen[scheme] = [_brightness(view, kind) for kind in ("color", "backgroundColor")]
        view.screenshot(path=str(page.with_name(f"{scheme}.png")), full_page=True)
    (text, back), (dark_text, dark_back) = seen["light"], seen["dark"]
    assert back - text > 150
    assert dark_text - dark_back > 150


def _brightness(view: Any, kind: str) -> float:
    colour = view.evaluate(f"getComputedStyle(document.body).{kind}")
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3


def _box(element: object) -> dict[str, float]:
    box = element.bounding_box()  # type: ignore[attr-defined] # playwright may not be installed where types are checked
    assert box is not None
    return dict(box)
