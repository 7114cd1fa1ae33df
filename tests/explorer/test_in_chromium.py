"""The explorer in a browser: what stands on its first screen, by keyboard, live, and with nothing for axe to find."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import product

import pytest

from ledgerd.explorer.node.watch import BlockFacts
from ledgerd.explorer.words.times import text_of
from scripts.chromium import Chromium, ChromiumError, Tab
from scripts.draw_explorer import LANGUAGES, SIZES, THEMES, kinds_of, show, window
from tests.clients.speaking import CLIENTS, is_left_out
from tests.explorer.browsers import SiteInThread, site_in_thread
from tests.explorer.recorded_node import RecordedExplorer, recorded_explorer

AXE = CLIENTS / "js" / "node_modules" / "axe-core" / "axe.min.js"
EVERYTHING = os.environ.get("EXPLORER_PAGES") == "all"
"""Whether axe looks at each page in each theme, size and language, and not at each of them once."""

FAULTS = """axe.run(document, {resultTypes: ["violations"]}).then((found) => found.violations.map(
  (each) => each.id + ": " + each.nodes.map((node) => node.html.slice(0, 160)).slice(0, 3).join(" | ")))"""
BELOW = "[...document.querySelectorAll(%s)].filter((each) => each.getBoundingClientRect().bottom > innerHeight).length"
FIRST_SCREEN = ("#q", "#live-figures .figure", "#pulse", "#live-round .slot", "#live-blocks li:nth-child(-n+4)",
                "#live-transfers li:nth-child(-n+4)")  # fmt: skip


@pytest.fixture(scope="module")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedExplorer]:
    with recorded_explorer("open-pm", tmp_path_factory.mktemp("open-pm")) as explorer:
        yield explorer


@pytest.fixture(scope="module")
def site(explorer: RecordedExplorer) -> Iterator[SiteInThread]:
    with site_in_thread(explorer) as site:
        yield site


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as started:
        yield started


@pytest.mark.parametrize(("size", "language"), [*product(SIZES, LANGUAGES)])
def test_the_first_screen_has_what_a_person_wants_to_know_without_scrolling(
    browser: Chromium, site: SiteInThread, size: str, language: str
) -> None:
    with window(browser, site, size, "light", language) as tab:
        show(tab, f"{site.url}/")
        for selector in FIRST_SCREEN:
            shown = json.dumps(selector)
            assert tab.evaluate(f"document.querySelectorAll({shown}).length") > 0, selector
            assert tab.evaluate(BELOW % shown) == 0, selector
        assert tab.evaluate("document.querySelectorAll('#live-round .slot').length") == 21


def test_no_page_is_wider_than_its_screen_and_none_reports_a_fault(
    browser: Chromium, site: SiteInThread, explorer: RecordedExplorer
) -> None:
    for size in SIZES:
        with window(browser, site, size, "dark", "ru") as tab:
            for kind, address in kinds_of(explorer).items():
                show(tab, f"{site.url}{address}")
                assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), (kind, size)
            noted = [
                each["entry"]["text"] for each in tab.events("Log.entryAdded") if each["entry"]["level"] == "error"
            ]
            assert [each for each in noted if "404" not in each] == []
            assert tab.events("Runtime.exceptionThrown") == []


@pytest.mark.skipif(is_left_out("js"), reason="axe-core is not installed: run scripts/clients where there is npm")
def test_axe_finds_nothing(browser: Chromium, site: SiteInThread, explorer: RecordedExplorer) -> None:
    axe, found = AXE.read_text(encoding="utf-8"), []
    turns = [*product(SIZES, THEMES, LANGUAGES)]
    for place, looks in enumerate(turns):
        with window(browser, site, *looks) as tab:
            for number, (kind, address) in enumerate(kinds_of(explorer).items()):
                if EVERYTHING or number % len(turns) == place or kind == "front":
                    show(tab, f"{site.url}{address}")
                    tab.evaluate(axe)
                    found += [f"{kind} {' '.join(looks)}: {each}" for each in tab.evaluate(FAULTS)]
    assert found == [], "\n".join(found)


def focused(tab: Tab) -> str:
    """What has the focus, in a few words."""
    word: str = tab.evaluate(
        "(() => {const it = document.activeElement; return it.tagName + ' ' + (it.id || it.getAttribute('href') || "
        "it.name || it.className || it.innerText || '')})()"
    )
    return word


def test_everything_is_reached_by_keyboard_in_its_order(browser: Chromium, site: SiteInThread) -> None:
    for address in ("/", "/account/viz", "/market/326"):
        with window(browser, site, "desk", "light", "en") as tab:
            show(tab, f"{site.url}{address}")
            wanted = tab.evaluate(
                "[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex=\"0\"]')]"
                ".filter((each) => each.offsetParent || each.getClientRects().length).length"
            )
            order = []
            for _ in range(wanted + 20):
                tab.press("Tab")
                order.append(focused(tab))
                if order[-1].startswith("BODY") and len(order) > 3:
                    break
            reached = tab.evaluate("[...document.querySelectorAll('a[href], button, input, select, summary')].length")
            assert order[0] == "A #main"
            assert "INPUT q" in order
            assert len(order) >= min(wanted, reached) - 2, address


def test_the_search_and_the_skip_link_work_by_keyboard(browser: Chromium, site: SiteInThread) -> None:
    with window(browser, site, "desk", "light", "en") as tab:
        show(tab, f"{site.url}/")
        tab.press("Tab")
        tab.press("Enter")
        assert tab.evaluate("document.activeElement.id") == "main"
        tab.evaluate("document.getElementById('q').focus()")
        tab.send("Input.insertText", text="viz")
        tab.press("Enter")
        tab.wait_for("location.pathname === '/account/viz'")


def test_a_block_appears_by_itself_and_ages_go_on(
    browser: Chromium, site: SiteInThread, explorer: RecordedExplorer
) -> None:
    watch = explorer.watch
    with window(browser, site, "desk", "light", "ru") as tab:
        show(tab, f"{site.url}/")
        tab.wait_for("document.getElementById('pulse').classList.contains('beat')")
        tab.evaluate("window.stays = 1")
        block = BlockFacts(watch.head + 1, "ab" * 20, text_of(watch.head_seconds + 3), "viz", 7, 9)
        watch.blocks.appendleft(block)
        site.tell()
        tab.wait_for(f"document.querySelector('#live-blocks a').getAttribute('href') === '/block/{block.number}'")
        watch.blocks.popleft()
        watch.away = "gone"
        site.tell()
        tab.wait_for("!document.getElementById('away').hidden")
        watch.away = ""
        site.tell()
        tab.wait_for("document.getElementById('away').hidden")
        assert tab.evaluate("window.stays") == 1


def test_the_theme_changes_at_once_with_a_script_and_stays(browser: Chromium, site: SiteInThread) -> None:
    with window(browser, site, "phone", "dark", "en") as tab:
        show(tab, f"{site.url}/blocks")
        ground = "getComputedStyle(document.body).backgroundColor"
        dark = tab.evaluate(ground)
        tab.evaluate("document.querySelector('[data-theme-choice]').click()")
        assert tab.evaluate(ground) != dark
        show(tab, f"{site.url}/validators")
        assert tab.evaluate("document.documentElement.dataset.theme") == "light"
        assert tab.evaluate(ground) != dark


def comes(tab: Tab, condition: str) -> bool:
    """Whether a condition comes to hold, in a page that cannot wait by itself."""
    for _ in range(400):
        with suppress(ChromiumError):  # between two pages there is none
            if tab.evaluate(condition):
                return True
        time.sleep(0.05)
    return False


def test_without_a_script_pages_are_read_and_choices_are_made(browser: Chromium, site: SiteInThread) -> None:
    with window(browser, site, "desk", "light", "en") as tab:
        tab.send("Emulation.setScriptExecutionDisabled", value=True)
        for chosen, said in (("lang=ru&back=/account/viz", "История"), ("theme=other&back=/blocks", "Блоки")):
            tab.send("Page.navigate", url=f"{site.url}/choose?{chosen}")
            assert comes(tab, f"(document.getElementById('main') || document.body).innerText.includes({said!r})")
        assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
        assert tab.evaluate("document.documentElement.lang") == "ru"
        assert tab.evaluate("document.body.classList.length") == 0
