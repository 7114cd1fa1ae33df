"""Takes pictures of every kind of page of the explorer, from recorded chains: both themes, both sizes, both languages.

python -m scripts.draw_explorer FOLDER
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from pathlib import Path

from scripts.chromium import Chromium, Tab
from tests.explorer.browsers import SiteInThread, site_in_thread
from tests.explorer.recorded_node import RecordedExplorer, recorded_explorer

SIZES = {"desk": (1280, 800), "phone": (390, 844)}
THEMES = ("light", "dark")
LANGUAGES = ("en", "ru")
PLACES = "LEDGERD_TESTS_REPLAYS"


def kinds_of(explorer: RecordedExplorer) -> Mapping[str, str]:
    """An address for every kind of page, with something to see."""
    ask = explorer.ask
    busy = max(explorer.watch.blocks, key=lambda each: each.transactions)
    operations = ask("operation_history", "get_ops_in_block", busy.number, False)
    transaction = next(each["trx_id"] for each in operations if each["trx_in_block"] != 0xFFFF)
    proposals = ask("history_api", "get_operations", {"types": ["proposal_create"]}, "newest", 10)["operations"]
    proposal = proposals[-1]["op"][1]
    offers = ask("paid_subscription_api", "get_paid_subscriptions", 0, 1)
    (record,) = ask("database_api", "get_accounts", [proposal["author"]])
    name = record["name"]
    disputes = ask("history_api", "get_operations", {"types": ["pm_dispute_opened"]}, "newest", 1)["operations"]
    market = disputes[-1]["op"][1]["market_id"]
    bet_on = ask("history_api", "get_operations", {"types": ["pm_place_bet"]}, "newest", 100)["operations"]
    busiest, _ = Counter(each["op"][1]["market_id"] for each in bet_on).most_common(1)[0]
    return {
        "front": "/",
        "blocks": "/blocks",
        "block": f"/block/{busy.number}",
        "transaction": f"/tx/{transaction}",
        "accounts": "/accounts",
        "account": f"/account/{name}",
        "rights": f"/account/{name}/rights",
        "shares": f"/account/{name}/shares",
        "bets": f"/account/{name}/bets",
        "agreements": f"/account/{name}/agreements",
        "validators": "/validators",
        "validator": f"/validator/{explorer.watch.properties['current_validator']}",
        "committee": "/committee",
        "request": f"/committee/{ask('committee_api', 'get_committee_requests_list', 0)[0]}",
        "proposals": "/proposals",
        "proposal": f"/proposal/{proposal['author']}/{proposal['title']}",
        "invites": "/invites",
        "invite": f"/invite/{ask('invite_api', 'get_invites_list', 0)[0]}",
        "subscriptions": "/subscriptions",
        "subscription": f"/subscription/{offers[0]['creator']}",
        "markets": "/markets",
        "market": f"/market/{busiest}",
        "dispute": f"/market/{market}",
        "disputes": "/disputes",
        "oracles": "/oracles",
        "search": "/search?q=pm",
        "key": f"/key/{record['regular_authority']['key_auths'][0][0]}",
        "fault": "/nothing-of-this-name",
    }


@contextmanager
def window(browser: Chromium, site: SiteInThread, size: str, theme: str, language: str) -> Iterator[Tab]:
    """A page of a browser that has chosen a language."""
    width, height = SIZES[size]
    tab = browser.open(f"{site.url}/robots.txt", width=width, height=height, is_dark=theme == "dark", has_cookies=True)
    tab.evaluate(f"document.cookie = 'lang={language}; path=/'")
    try:
        yield tab
    finally:
        tab.close()


def show(tab: Tab, url: str) -> None:
    """Go to a page and wait until it stands."""
    tab.send("Page.navigate", url=url)
    tab.wait_for(f"location.href === {url!r} && document.readyState === 'complete' && document.getElementById('main')")


def draw(folder: Path, explorer: RecordedExplorer) -> list[str]:
    """Take every picture, into a folder."""
    names = []
    with site_in_thread(explorer) as site, Chromium() as browser:
        for size, theme, language in product(SIZES, THEMES, LANGUAGES):
            with window(browser, site, size, theme, language) as tab:
                for kind, address in kinds_of(explorer).items():
                    show(tab, f"{site.url}{address}")
                    names.append(f"{kind}-{size}-{theme}-{language}.png")
                    (folder / names[-1]).write_bytes(tab.picture(is_whole=kind != "front"))
    return names


def main() -> None:
    """Take all pictures of a recorded chain with markets."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/explorer")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        os.environ.setdefault(PLACES, place)
        with recorded_explorer("open-pm", Path(place) / "chain") as explorer:
            names = draw(folder, explorer)
    sys.stdout.write(f"{len(names)} pictures in {folder}\n")


if __name__ == "__main__":
    main()
