"""Every page of recorded chains at their last block: it is drawn, and its figures are those that the node answers."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from ledgerd.explorer.pages.answering import ROUTES
from ledgerd.explorer.pages.betting import markets
from ledgerd.explorer.pages.ledger.blocks import MOST_IN_FULL, MOST_OPERATIONS
from ledgerd.explorer.words.language import CODES
from ledgerd.explorer.words.numbers import micro_text, milli_text
from tests.explorer.recorded_figures import text_of
from tests.explorer.recorded_node import RecordedExplorer, names_of, recorded_explorer

ALL_PAGES = os.environ.get("EXPLORER_PAGES") == "all"
"""Whether every account, block and transaction is drawn, which takes minutes, and not a part of them in each run."""
BLOCK_STEP = 1 if ALL_PAGES else 31
MOST_ACCOUNTS = 10_000 if ALL_PAGES else 60
MOST_TRANSACTIONS = None if ALL_PAGES else 1
"""Of a block."""
OPERATION = '<li>\n<span class="chip'
LINK = re.compile(r'href="(/[^"]*)"')


@pytest.fixture(scope="module", params=["open-1", "open-pm"])
def explorer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedExplorer]:
    with recorded_explorer(request.param, tmp_path_factory.mktemp(request.param)) as explorer:
        yield explorer
        sys.stdout.write(f"{request.param}: {explorer.answering.drawn} pages were drawn\n")  # seen with -s


def accounts_of(explorer: RecordedExplorer) -> list[str]:
    """Accounts from all over the alphabet."""
    names = names_of(explorer)
    return names[:: max(1, len(names) // MOST_ACCOUNTS)]


def code_of(place: int) -> str:
    """Pages take turns with the languages."""
    return CODES[place % len(CODES)]


def test_the_front_page_has_the_figures_of_the_head(explorer: RecordedExplorer) -> None:
    properties = explorer.ask("database_api", "get_dynamic_global_properties")
    for code in CODES:
        text = text_of(explorer.page("/", code))
        assert f" {properties['head_block_number']} " in text
        assert f" {properties['current_supply'].partition('.')[0]} VIZ" in text
        assert f" {properties['committee_fund'].partition('.')[0]} VIZ" in text
        assert f" {properties['participation_count']} " in text
        assert text.count(properties["current_validator"]) > 10


def test_every_account_has_the_figures_of_its_record(explorer: RecordedExplorer) -> None:
    for place, name in enumerate(accounts_of(explorer)):
        (record,) = explorer.ask("database_api", "get_accounts", [name])
        page = explorer.page(f"/account/{name}", code_of(place))
        text = text_of(page)
        assert f" {record['balance']} " in text, name
        assert f" {record['vesting_shares']} " in text, name
        newest = explorer.ask("history_api", "get_account_operations", name, {}, "newest", 25)
        assert page.count(OPERATION) == len(newest["entries"]), name


def test_a_history_is_paged_back_to_its_first_entry_and_forth_again(explorer: RecordedExplorer) -> None:
    name = accounts_of(explorer)[1]
    count = explorer.ask("account_history", "get_account_history", name, -1, 0)[0][0] + 1
    address, seen, pages = f"/account/{name}", 0, 0
    while address:
        page = explorer.page(address)
        seen, pages = seen + page.count(OPERATION), pages + 1
        older = re.search(r'class="right" href="([^"]+)" rel="next', page)
        address = older[1].replace("&amp;", "&") if older else ""
    assert (seen, pages) == (count, -(-count // 25))
    newer = re.search(r'<a href="([^"]+cursor=after[^"]+)"', page)
    assert pages == 1 or (newer is not None and OPERATION in explorer.page(newer[1].replace("&amp;", "&")))
    assert OPERATION not in explorer.page(f"/account/{name}?cursor=before:0")


def test_every_account_has_the_rights_and_shares_of_its_record(explorer: RecordedExplorer) -> None:
    for place, name in enumerate(accounts_of(explorer)):
        (record,) = explorer.ask("database_api", "get_accounts", [name])
        agents = explorer.ask("database_api", "get_agent_permissions", name)
        rights = text_of(explorer.page(f"/account/{name}/rights", code_of(place)))
        assert all(key in rights for key, _ in record["master_authority"]["key_auths"])
        assert all(each["agent_name"] in rights and each["agent_key"] in rights for each in agents)
        shares = text_of(explorer.page(f"/account/{name}/shares", code_of(place + 1)))
        assert f" {record['delegated_vesting_shares']} " in shares
        assert f" {record['received_vesting_shares']} " in shares
        explorer.page(f"/account/{name}/agreements", code_of(place))
        if explorer.watch.has_markets:
            bets = text_of(explorer.page(f"/account/{name}/bets", code_of(place)))
            rows = explorer.ask("prediction_market_api", "get_account_positions", name, 0, 25)
            assert all(milli_text(each["bet"]["amount"]) in bets for each in rows)


def test_blocks_and_their_transactions_say_what_the_history_has(explorer: RecordedExplorer) -> None:
    last = explorer.watch.head
    for place, number in enumerate((*range(1, last, BLOCK_STEP), last)):
        done = explorer.ask("operation_history", "get_ops_in_block", number, False)
        page = explorer.page(f"/block/{number}", code_of(place))
        assert page.count(OPERATION) == min(len(done), MOST_OPERATIONS), number
        for identifier in sorted({each["trx_id"] for each in done if each["trx_in_block"] != 0xFFFF})[
            :MOST_TRANSACTIONS
        ]:
            text = explorer.page(f"/tx/{identifier}", code_of(place + 1))
            assert identifier in text
            own = [each for each in done if each["trx_id"] == identifier and not each["virtual_op"]]
            assert text.count('<dl class="facts code">') == min(len(own), MOST_IN_FULL)
            followed = [each for each in done if each["trx_id"] == identifier and each["virtual_op"]]
            assert text.count('<li><span class="chip') == len(followed)


def test_lists_lead_through_all_that_there_is(explorer: RecordedExplorer) -> None:
    first = {
        "/blocks": 'href="/block/',
        "/accounts": 'class="name"',
        "/committee?status=open": 'href="/committee/',
        "/invites?status=unused": 'href="/invite/',
        "/subscriptions": 'href="/subscription/',
    }
    for start, mark in first.items():
        address, seen, pages = start, 0, 0
        while address:
            page = explorer.page(address)
            seen, pages = seen + page.count(mark), pages + 1
            older = re.search(r'class="right" href="([^"]+)" rel="next', page)
            address = older[1].replace("&amp;", "&") if older else ""
        assert seen >= {"/blocks": explorer.watch.head, "/accounts": len(names_of(explorer))}.get(start, pages - 1)


def test_lists_beside_the_first_one_of_a_page_lead_through_all_that_there_is(
    explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not explorer.watch.has_markets:
        return
    monkeypatch.setattr(markets, "OF_A_PAGE", 2)
    ask, api = explorer.ask, "prediction_market_api"
    listed = [(row["id"], ask(api, "get_market_liquidity", row["id"], 0, 100)) for row in markets_of(explorer)]
    number, rows = max(listed, key=lambda each: len(each[1]))
    address, seen = f"/market/{number}", 0
    while address:
        page = explorer.page(address)
        section = page.partition("<h2>Liquidity</h2>")[2].partition("</section>")[0]
        seen += section.count("<li ")
        older = re.search(r'class="right" href="([^"]+funds=[^"]+)"', section)
        address = older[1].replace("&amp;", "&") if older else ""
    assert seen == len(rows) > 2


def test_validators_have_the_figures_of_their_records(explorer: RecordedExplorer) -> None:
    rows = explorer.ask("validator_api", "get_validators_by_counted_vote", "", 50)
    text = text_of(explorer.page("/validators"))
    for place, row in enumerate(rows):
        assert f" {micro_text(row['counted_votes']).partition('.')[0]} SHARES" in text
        own = text_of(explorer.page(f"/validator/{row['owner']}", code_of(place)))
        assert micro_text(row["votes"]) in own
        assert str(row["props"]["account_creation_fee"]) in own


def test_requests_invites_subscriptions_and_proposals_have_their_figures(explorer: RecordedExplorer) -> None:
    for status in range(6):
        for number in explorer.ask("committee_api", "get_committee_requests_list", status)[:40]:
            record = explorer.ask("committee_api", "get_committee_request", number, 0)
            text = text_of(explorer.page(f"/committee/{number}", code_of(number)))
            assert record["required_amount_max"] in text
    for status in range(4):
        for number in explorer.ask("invite_api", "get_invites_list", status):
            record = explorer.ask("invite_api", "get_invite_by_id", number)
            assert record["balance"] in text_of(explorer.page(f"/invite/{number}", code_of(number)))
    for row in explorer.ask("paid_subscription_api", "get_paid_subscriptions", 0, 100):
        assert milli_text(row["amount"]) in text_of(explorer.page(f"/subscription/{row['creator']}"))
    for row in explorer.ask("history_api", "get_operations", {"types": ["proposal_create"]}, "newest", 25)[
        "operations"
    ]:
        fields = row["op"][1]
        explorer.page(f"/proposal/{fields['author']}/{quote(fields['title'], safe='')}")


def test_every_market_has_the_figures_of_its_record(explorer: RecordedExplorer) -> None:
    if not explorer.watch.has_markets:
        assert explorer.reply("/markets").status == 200
        assert 'href="/markets"' not in explorer.page("/")
        return
    for place, row in enumerate(markets_of(explorer)):
        text = text_of(explorer.page(f"/market/{row['id']}", code_of(place)))
        assert milli_text(row["bets_sum"]) in text, row["id"]
        assert milli_text(row["liquidity_sum"]) in text, row["id"]
    for place, page in enumerate(("/disputes", "/oracles", "/markets", "/markets?status=resolved", "/proposals")):
        explorer.page(page, code_of(place))


def markets_of(explorer: RecordedExplorer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for status in (-1, 0, 1, 3):
        found += explorer.ask("prediction_market_api", "list_markets", status, 0, 100, True, "newest")
    return found


def test_every_link_of_a_page_leads_to_one(explorer: RecordedExplorer) -> None:
    name = names_of(explorer)[3]
    waiting = ["/", "/blocks", f"/block/{explorer.watch.head - 30}", f"/account/{name}", "/validators", "/committee"]
    seen: set[str] = set()
    for address in waiting:
        for found in LINK.findall(explorer.page(address)):
            link = found.replace("&amp;", "&")
            if link not in seen and not link.startswith(("/choose", "/static")):
                seen.add(link)
                assert explorer.reply(link).status in (200, 303), (address, link)
    assert len(seen) > 60


def test_every_kind_of_page_is_among_them() -> None:
    patterns = {pattern.pattern.split("(")[0] for pattern, _ in ROUTES}
    text = Path(__file__).read_text(encoding="utf-8")
    elsewhere = {"/search", "/key/", "/block/"}
    assert [each for each in sorted(patterns - elsewhere) if each.rstrip("/") not in text] == []
