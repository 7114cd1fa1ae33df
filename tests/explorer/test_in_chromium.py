"""The explorer in a browser: what stands on its first screen, by keyboard, live, and with nothing for axe to find."""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import product
from typing import NamedTuple

import msgspec
import pytest

from ledgerd.explorer.node.watch import BlockFacts, ChainWatch
from ledgerd.explorer.words.times import text_of
from scripts.chromium import Chromium, ChromiumError, Tab
from scripts.draw_explorer import LANGUAGES, SIZES, THEMES, kinds_of, show, window
from tests.clients.speaking import CLIENTS, is_left_out
from tests.explorer.browsers import SiteInThread, site_in_thread
from tests.explorer.recorded_node import RecordedExplorer, recorded_explorer

AXE = CLIENTS / "js" / "node_modules" / "axe-core" / "axe.min.js"
EVERYTHING = os.environ.get("EXPLORER_PAGES") == "all"
"""Whether each page is looked at in each theme, size and language, and not at each of them once."""

FAULTS = """axe.run(document, {resultTypes: ["violations"], selectors: false, preload: false}).then((found) =>
  found.violations.map(
  (each) => each.id + ": " + each.nodes.map((node) => node.html.slice(0, 160)).slice(0, 3).join(" | ")))"""
PLACES = """[...document.querySelectorAll(%s)].map((each) => {
  const place = each.getBoundingClientRect();
  return [place.left, place.top, place.right, place.bottom];
})"""
FIRST_SCREEN = {
    "#q": 1, "#pulse": 1, "#pulse [data-ago]": 1, "#live-figures .figure": 4, "#live-round .slot": 21,
    "#live-blocks li:nth-child(-n+4)": 4, "#live-transfers li:nth-child(-n+4)": 4,
}  # fmt: skip
"""What is seen without scrolling: the search, the head and its age, figures (head, participation, supply, fund), the
slots of the round, the latest blocks and transfers; and how many of each."""

ROWS, TALLEST_ROW = "[...document.querySelectorAll('tr')]", 100
"""Where one column has no room, it breaks after each letter, and a row becomes as high as a page."""
REACHABLE = """[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
  .filter((each) => each.getClientRects().length)"""
IS_LIVE = "document.getElementById('pulse').classList.contains('beat')"
MARKS = """window.order = [];
for (const each of document.querySelectorAll("details")) each.open = true;
document.addEventListener("focusin", (event) => { event.target.isReached = true; window.order.push(event.target); })"""
UNREACHED = f"{REACHABLE}.filter((each) => !each.isReached).map((each) => each.outerHTML.slice(0, 160))"
MOST_STOPS = f"{REACHABLE}.length + 4 * document.querySelectorAll('[type=date]').length"
"""A field for a date stops at its day, month, year and calendar."""
IS_IN_ORDER = (
    "order.slice(0, new Set(order).size).every((each, at) => !at || order[at - 1].compareDocumentPosition(each) & 4)"
)


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


@pytest.fixture(scope="module")
def tabs(browser: Chromium, site: SiteInThread) -> Iterator[dict[str, Tab]]:
    """A page for each language; tests give it the size and theme that they need, as to load one takes long."""
    with ExitStack() as opened:
        yield {each: opened.enter_context(window(browser, site, "desk", "light", each)) for each in LANGUAGES}


class Survey(NamedTuple):
    """What was found on a page of each kind, each loaded once."""

    wide: list[str]
    """Those that do not fit their screen."""
    axe: list[str]
    reports: list[str]
    """Errors that the browser has noted."""


@pytest.fixture(scope="module")
def survey(tabs: dict[str, Tab], site: SiteInThread, explorer: RecordedExplorer) -> Survey:
    found = Survey([], [], [])
    looks = [*product(SIZES, THEMES, LANGUAGES)]
    axe = "" if is_left_out("js") else AXE.read_text(encoding="utf-8")
    for number, (kind, address) in enumerate(kinds_of(explorer).items()):
        of_page = looks if EVERYTHING else [looks[number % len(looks)]]
        for language in {language: None for _, _, language in of_page}:
            tab = tabs[language]
            show(tab, f"{site.url}{address}")
            tab.evaluate(axe or "1")
            for size, screen in SIZES.items():
                tab.look(*screen)
                if not tab.evaluate("document.documentElement.scrollWidth <= innerWidth"):
                    found.wide.append(f"{kind} {size}")
                if not tab.evaluate(f"{ROWS}.every((each) => each.clientHeight < {TALLEST_ROW})"):
                    found.wide.append(f"{kind} {size}: a row is as high as a page")
            for size, theme in [each[:2] for each in of_page if axe and each[2] == language]:
                tab.look(*SIZES[size], is_dark=theme == "dark")
                found.axe.extend(f"{kind} {size} {theme} {language}: {each}" for each in tab.evaluate(FAULTS))
    for tab in tabs.values():
        noted = [each["entry"] for each in tab.events("Log.entryAdded")]
        found.reports.extend(each["text"] for each in noted if each["level"] == "error" and "404" not in each["text"])
        found.reports.extend(map(str, tab.events("Runtime.exceptionThrown")))
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_screen_has_what_a_person_wants_to_know_without_scrolling(
    tabs: dict[str, Tab], site: SiteInThread, language: str
) -> None:
    tab = tabs[language]
    show(tab, f"{site.url}/")
    for size, (width, height) in SIZES.items():
        tab.look(width, height)
        for selector, count in FIRST_SCREEN.items():
            places = tab.evaluate(PLACES % json.dumps(selector))
            assert len(places) == count, (size, selector)
            for left, top, right, bottom in places:
                assert 0 <= left < right <= width, (size, selector)
                assert 0 <= top < bottom <= height, (size, selector)


def test_the_first_screen_has_room_for_large_numbers_long_names_and_missed_slots(
    tabs: dict[str, Tab], site: SiteInThread, explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_it_be_old(explorer.watch, monkeypatch)
    site.tell()
    for language, tab in tabs.items():
        show(tab, f"{site.url}/")
        for size, (width, height) in SIZES.items():
            tab.look(width, height)
            assert tab.evaluate("document.querySelectorAll('#live-round .missed').length") == 2
            for selector, count in {**FIRST_SCREEN, "#live-round .slot": 23}.items():
                places = tab.evaluate(PLACES % json.dumps(selector))
                assert len(places) == count, (language, size, selector)
                for left, top, right, bottom in places:
                    assert 0 <= left < right <= width, (language, size, selector)
                    assert 0 <= top < bottom <= height, (language, size, selector)
            tops = {place[1] for place in tab.evaluate(PLACES % json.dumps(".bar-in > :not(.search, .nav)"))}
            assert max(tops) - min(tops) < 30, (language, size)  # they stand in one row
            assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), (language, size)
    monkeypatch.undo()
    site.tell()


def let_it_be_old(watch: ChainWatch, monkeypatch: pytest.MonkeyPatch) -> None:
    """A head of ninety million blocks, 21 validators of whom two have missed their slots, large transfers."""
    names = [f"validator-{number}.with-a-long-name"[:31] for number in range(21)]
    head, blocks, place = watch.head + 90_000_000, list[BlockFacts](), 10
    for number in range(head, head - 9, -1):
        place -= place in (7, 2)
        time = text_of(watch.head_seconds - 3 * (10 - place))
        kinds = (("set_paid_subscription", 3), ("transfer", 2))
        blocks.append(BlockFacts(number, "ab" * 20, time, names[place], 12_345, 5, kinds))
        place -= 1
    fields = {"from": names[3], "to": names[4], "amount": "12345678.901 VIZ", "memo": ""}
    schedule = {
        "num_scheduled_validators": 21,
        "current_shuffled_validators": "".join(each.encode().ljust(32, b"\0").hex() for each in names),
        "next_shuffle_block_num": head - 9 + 21,
    }
    properties = {**watch.properties, "head_block_number": head, "current_aslot": 10}
    monkeypatch.setattr(watch, "properties", {**properties, "current_supply": "1000000000.123 VIZ"})
    monkeypatch.setattr(watch, "schedule", schedule)
    monkeypatch.setattr(watch, "_names", tuple(names))
    monkeypatch.setattr(watch, "blocks", deque(blocks))
    monkeypatch.setattr(
        watch, "transfers", deque(msgspec.structs.replace(each, fields=fields) for each in watch.transfers)
    )


def test_no_page_is_wider_than_its_screen_and_none_reports_a_fault(survey: Survey) -> None:
    assert survey.wide == []
    assert survey.reports == []


@pytest.mark.skipif(is_left_out("js"), reason="axe-core is not installed: run scripts/clients where there is npm")
def test_axe_finds_nothing(survey: Survey) -> None:
    assert survey.axe == [], "\n".join(survey.axe)


@pytest.mark.skipif(is_left_out("js"), reason="the same")
def test_axe_finds_a_fault_that_is_planted(tabs: dict[str, Tab], site: SiteInThread) -> None:
    tab = tabs["en"]
    show(tab, f"{site.url}/proposals")
    tab.evaluate(AXE.read_text(encoding="utf-8"))
    tab.evaluate("document.querySelector('label').remove(); document.getElementById('q').placeholder = ''")
    assert [each for each in tab.evaluate(FAULTS) if each.startswith("label:")] != []


def test_everything_is_reached_by_keyboard_in_its_order(
    tabs: dict[str, Tab], site: SiteInThread, explorer: RecordedExplorer
) -> None:
    tab = tabs["en"]
    tab.look(*SIZES["desk"])
    for address in kinds_of(explorer).values() if EVERYTHING else ("/", "/account/viz", "/market/326"):
        show(tab, f"{site.url}{address}")
        tab.wait_for(IS_LIVE)  # the first report from the node replaces the lists of the front page
        tab.evaluate(MARKS)
        for _ in range(tab.evaluate(MOST_STOPS)):
            tab.press("Tab")
        assert tab.evaluate("order[0].getAttribute('href')") == "#main"
        assert tab.evaluate(UNREACHED) == [], address
        assert tab.evaluate(IS_IN_ORDER), address


def test_the_search_and_the_skip_link_work_by_keyboard(tabs: dict[str, Tab], site: SiteInThread) -> None:
    tab = tabs["en"]
    show(tab, f"{site.url}/invites")
    tab.press("Tab")
    tab.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "main"
    tab.evaluate("document.getElementById('q').focus()")
    tab.send("Input.insertText", text="viz")
    tab.press("Enter")
    tab.wait_for("location.pathname === '/account/viz'")


def test_a_block_appears_by_itself_and_ages_go_on(
    tabs: dict[str, Tab], site: SiteInThread, explorer: RecordedExplorer
) -> None:
    watch, tab = explorer.watch, tabs["ru"]
    show(tab, f"{site.url}/")
    tab.wait_for(IS_LIVE)
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
