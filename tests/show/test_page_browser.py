"""The page of a sweep, in a real browser: what it does, at both widths."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from msvm_select.show.page.charts import Painting
from msvm_select.show.page.page import render
from tests.show.pages import EVIL, large, report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator
    from playwright.sync_api import Page as Tab

pytestmark = pytest.mark.browser

REQUIRED = os.environ.get("BROWSER_TESTS") == "required"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
NARROW, BROAD = {"width": 390, "height": 844}, {"width": 1440, "height": 900}
TEXTS = "p, h1, h2, h3, a, li, dt, dd, th, td, label, button, summary, figcaption, code"

# The contrast of each element's text with what is painted behind it, the least one.
CONTRAST = """selector => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll(selector)]
    .filter((element) => element.checkVisibility() && element.textContent.trim())
    .map((element) => {
      const [a, b] = [light(rgb(getComputedStyle(element).color)),
        light(behind(element))];
      return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05),
        `${element.tagName}.${element.className}: ${element.textContent.slice(0, 30)}`];
    })
    .reduce((least, other) => other[0] < least[0] ? other : least);
}"""


def missing(reason: str) -> None:
    """Skip, unless the browser is required."""
    if REQUIRED:
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless chromium."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        missing("there is no chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed")
    with sync_playwright() as driver:
        alone = ["--no-sandbox"] if os.geteuid() == 0 else []
        args = [*alone, "--process-per-site"]
        browser = driver.chromium.launch(executable_path=found, args=args)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def plain(browser: Browser) -> BrowserContext:
    """Where pages are opened that need nothing particular."""
    return browser.new_context(viewport=BROAD)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages, as files."""
    folder = tmp_path_factory.mktemp("pages")
    texts = {
        "two": render(report()),
        "evil": render(report(EVIL)),
        "large": render(large()),
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in texts}


class Opener:
    """Opens pages, and notes whatever a browser complains of."""

    def __init__(self, plain: BrowserContext, files: dict[str, Path]) -> None:
        """``files`` by name."""
        self.plain, self.files = plain, files
        assert plain.browser is not None
        self.browser = plain.browser
        self.complaints: list[str] = []
        self.made: list[Any] = []  # to be closed, the last first

    def __call__(self, name: str = "two", **how: Any) -> Tab:
        """The page in a new window; one that is like others shares their process."""
        context = self.plain
        if how:
            context = self.browser.new_context(**{"viewport": BROAD, **how})
            self.made.append(context)
        tab = context.new_page()
        self.made.append(tab)
        tab.set_default_timeout(20_000)  # on a busy machine the largest takes 6 s
        tab.on("console", lambda message: self.complaints.append(message.text))
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        tab.on("request", self._requested)
        tab.goto(self.files[name].as_uri())
        return tab

    def _requested(self, request: Any) -> None:
        if not request.url.startswith(self.files["two"].parent.as_uri()):
            self.complaints.append(request.url)


@pytest.fixture
def opened(plain: BrowserContext, files: dict[str, Path]) -> Iterator[Opener]:
    """To open a page; in the end nothing was complained of or loaded."""
    opener = Opener(plain, files)
    yield opener
    for made in reversed(opener.made):
        made.close()
    assert opener.complaints == []


def column(tab: Tab, name: str) -> list[str]:
    """What stands in the rows that are shown, from top to bottom."""
    script = """name => {
      const table = document.getElementById("cells");
      const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
      return [...table.tBodies[0].rows].filter((row) => !row.hidden)
        .map((row) => row.cells[heads.indexOf(name)].textContent);
    }"""
    found: list[str] = tab.evaluate(script, name)
    return found


def heading(tab: Tab, name: str) -> Locator:
    """The table's heading of that column."""
    exact = re.compile(f"^{name}$")
    return tab.locator("#cells thead th").filter(has_text=exact)


@pytest.mark.parametrize("key", ["click", "Enter"])
def test_a_heading_sorts(opened: Opener, key: str) -> None:
    """Ascending, then descending, by mouse and by keyboard; told to screen readers."""
    tab = opened()
    head = heading(tab, "train_errors")
    button = head.locator("button")
    assert head.get_attribute("aria-sort") is None
    for order in ("ascending", "descending"):
        if key == "click":
            button.click()
        else:
            button.press(key)
        assert head.get_attribute("aria-sort") == order
        values = list(map(int, column(tab, "train_errors")))
        assert values == sorted(values, reverse=order == "descending")
    assert tab.locator("#cells [aria-sort]").count() == 1


def test_missing_values_are_sorted_last(opened: Opener) -> None:
    """Both ways: a linear kernel has no gamma."""
    tab = opened()
    for _ in range(2):
        heading(tab, "gamma").locator("button").click()
        assert column(tab, "gamma")[-4:] == ["\N{EN DASH}"] * 4


def test_the_table_is_filtered(opened: Opener) -> None:
    """By words, columns and kernel; the count says how many are left."""
    tab = opened()
    tab.select_option("#kernel", "linear")
    assert column(tab, "kernel") == ["linear"] * 4
    tab.fill("#filter", "LINE C=16")
    assert column(tab, "C") == ["16"]
    assert tab.inner_text("#count") == "1 of 12 cells"
    tab.fill("#filter", "")
    tab.select_option("#kernel", "")
    assert tab.inner_text("#count") == "12 cells"


def test_columns_come_and_go(opened: Opener) -> None:
    """Those that matter are there; a box shows another one."""
    tab = opened()
    assert heading(tab, "loo_rate").is_visible()
    assert not heading(tab, "norm_w").is_visible()
    tab.locator("summary").press("Enter")
    tab.locator("#columns label", has_text="norm_w").click()
    assert heading(tab, "norm_w").is_visible()


@pytest.mark.parametrize("viewport", [NARROW, BROAD])
def test_a_cell_shows_its_values(opened: Opener, viewport: dict[str, int]) -> None:
    """On hover and on focus, within the window; gone with Escape."""
    tab = opened(viewport=viewport)
    best = report().results.rows[0]
    cell, tip = tab.locator(".cell[data-chosen]"), tab.locator("#tip")
    cell.scroll_into_view_if_needed()
    assert not tip.is_visible()
    for show in (cell.hover, cell.focus):
        show()
        tip.wait_for(state="visible")
        assert f"loo_rate{best.loo_rate:.4g}" in tip.inner_text().replace("\n", "")
        box = tip.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= viewport["width"]
        tab.keyboard.press("Escape")
        assert not tip.is_visible()


def test_arrow_keys_walk_over_a_map(opened: Opener) -> None:
    """From cell to neighbour, not beyond the edge; one stop of Tab a map."""
    tab = opened()
    kernel = tab.locator("[data-kernel=rbf]")
    assert kernel.locator(".cell[tabindex='0']").count() == 1
    cells = kernel.locator("[role=row]").nth(0).locator(".cell")
    cells.nth(0).focus()
    tab.keyboard.press("ArrowUp")
    tab.keyboard.press("ArrowRight")
    here = "document.activeElement.dataset.row"
    assert tab.evaluate(here) == cells.nth(1).get_attribute("data-row")
    tab.keyboard.press("End")
    assert tab.evaluate(here) == cells.nth(3).get_attribute("data-row")
    assert tab.locator("#tip").is_visible()
    assert kernel.locator(".cell[tabindex='0']").count() == 1


def test_another_score_repaints_the_maps(opened: Opener) -> None:
    """Texts, shades and legend are those of that score."""
    tab = opened()
    results = report().results
    cell = tab.locator(".cell[data-chosen]")
    for score in ("loo_rate", "sv_rate"):
        tab.select_option("#score", score)
        painting = Painting(results, score).data()
        assert cell.text_content() == painting["texts"][0]
        assert painting["styles"][0] in (cell.get_attribute("class") or "")
    assert "support vectors" in tab.inner_text("#legend")
    tab.select_option("#score", "radius_margin")
    assert tab.locator(".cell.inapplicable").count() > 0


def test_another_line_is_bold(opened: Opener) -> None:
    """In every picture along C, and one only."""
    tab = opened()
    pictures = tab.locator(".curve").count()
    tab.select_option("#setting", "1")
    bold = tab.locator(".line.on")
    assert bold.count() == pictures > 1
    assert bold.first.get_attribute("data-setting") == "1"


def test_the_command_is_copied(opened: Opener) -> None:
    """As it stands; where copying is not allowed, it is selected."""
    tab = opened(permissions=["clipboard-read", "clipboard-write"])
    tab.click("#copy")
    tab.locator("#copied", has_text="Copied.").wait_for()
    assert tab.evaluate("navigator.clipboard.readText()") == report().command
    barred = opened()
    barred.evaluate("() => { navigator.clipboard.writeText = Promise.reject; }")
    barred.click("#copy")
    barred.locator("#copied", has_text="Selected").wait_for()
    assert barred.evaluate("getSelection().toString().trim()") == report().command


@pytest.mark.parametrize("name", ["two", "evil", "large"])
def test_the_page_is_never_wider_than_the_window(opened: Opener, name: str) -> None:
    """What is wider scrolls in a box of its own."""
    tab = opened(name)
    tab.evaluate("document.querySelectorAll('details').forEach((d) => d.open = true)")
    for viewport in (BROAD, NARROW):
        tab.set_viewport_size(viewport)  # type: ignore[arg-type]
        width = tab.evaluate("document.documentElement.scrollWidth")
        assert width <= viewport["width"]


def test_the_keyboard_reaches_everything(opened: Opener) -> None:
    """Tab goes down the page, the skip link first, and shows where it is."""
    tab = opened()
    reached = []
    for _ in range(60):
        tab.keyboard.press("Tab")
        here = tab.evaluate(
            """() => {
              const at = document.activeElement;
              const outline = getComputedStyle(at).outlineStyle;
              return [at.className.baseVal ?? at.className, at.id || at.textContent,
                outline !== "none" || at.matches(".cell")];
            }"""
        )
        reached.append(here)
        if here[1] == "copy":
            break
    names = [name for _, name, _ in reached]
    assert reached[0][0] == "skip"
    order = ["score", "setting", "filter", "kernel", "rank", "copy"]
    assert list(dict.fromkeys(name for name in names if name in order)) == order
    assert sum("cell" in kind.split() for kind, _, _ in reached) == 2
    assert all(seen for _, _, seen in reached)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_is_readable(opened: Opener, scheme: str) -> None:
    """A contrast of 4.5 or more with what is behind it, day and night."""
    tab = opened(color_scheme=scheme)
    tab.locator("summary").click()
    contrast, where = tab.evaluate(CONTRAST, TEXTS)
    assert contrast >= 4.5, where
    colours = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", colours))) < 300) == (scheme == "dark")


def test_names_are_shown_and_not_run(opened: Opener) -> None:
    """A class called like a script is a heading like others."""
    tab = opened("evil")
    heads = tab.locator("#confusion thead th").all_inner_texts()
    assert [" ".join(head.split()) for head in heads[1:4]] == [
        " ".join(name.split()) for name in EVIL
    ]


def test_many_cells_can_be_worked_with(opened: Opener) -> None:
    """A thousand in all columns: sorted, filtered, one of them pointed at."""
    tab = opened("large")
    heading(tab, "loo_rate").locator("button").click()
    rates = list(map(float, column(tab, "loo_rate")))
    assert len(rates) == 1000
    assert rates == sorted(rates)
    tab.fill("#filter", "C=1")
    assert set(column(tab, "C")) == {"1"}
    tab.locator(".cell").last.hover()
    assert tab.locator("#tip").is_visible()


def test_without_motion_nothing_glides(opened: Opener) -> None:
    """Who wants less motion has none."""
    tab = opened(reduced_motion="reduce")
    style = "getComputedStyle(document.documentElement).scrollBehavior"
    assert tab.evaluate(style) == "auto"


def test_on_paper_all_is_there(opened: Opener) -> None:
    """Controls are gone, nothing is cut off, the paper is white also at night."""
    tab = opened(color_scheme="dark")
    tab.emulate_media(media="print")
    assert not tab.locator("#filter").is_visible()
    assert not tab.locator("nav").is_visible()
    assert tab.evaluate("getComputedStyle(every).maxHeight") == "none"
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )


def test_the_answers_are_read_on_a_telephone(opened: Opener) -> None:
    """The rows to look at and the choice by every score, within the window."""
    tab = opened("evil", viewport=NARROW)
    for title in ("The clearest errors", "The best cell by each score"):
        box = tab.get_by_role("region", name=title)
        assert box.locator("tr").count() > 1
        assert box.bounding_box()["width"] <= NARROW["width"]
