"""What requests are answered with, whatever they ask for: a page with its status, and never a trace."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.client.envelope import NodeCall
from ledgerd.explorer.pages import answering
from ledgerd.explorer.pages.answering import HTML, PageReply
from ledgerd.explorer.pages.betting import markets
from ledgerd.explorer.pages.drawing import asset_path
from ledgerd.explorer.pages.ledger import blocks, search
from ledgerd.explorer.words.language import CODES
from ledgerd.rpc.api.history import summaries
from tests.explorer.recorded_node import RecordedExplorer, names_of, recorded_explorer

KEY = "VIZ6MyX5QiXAXRZk7SYCiqpi6Mtm8UbHWDFSV8HPpt7FJyahCnc2T"


@pytest.fixture(scope="module")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedExplorer]:
    with recorded_explorer("open-pm2", tmp_path_factory.mktemp("open-pm2")) as explorer:
        yield explorer


@pytest.mark.parametrize(
    ("address", "status", "said"),
    [
        ("/nothing", 404, "There is no such page"),
        ("/block/0", 404, "There is no such block"),
        ("/block/999999", 404, "There is no such block"),
        ("/block/4294967296", 400, "not a number"),
        ("/block/-1", 400, "not a number"),
        ("/block/one", 400, "not a number"),
        ("/block/4294967295", 404, "There is no such block"),
        ("/block/" + "f" * 40, 404, "There is no such block"),
        ("/tx/zz", 400, "not the id of a transaction"),
        ("/tx/" + "0" * 40, 400, "not the id of a transaction"),
        ("/tx/" + "1" * 40, 404, "There is no such transaction"),
        ("/account/nobody-here", 404, "There is no such account"),
        ("/account/UPPER", 400, "not a name"),
        ("/account/a%20b", 400, "not a name"),
        ("/account/%F0%28%8C%BC", 400, "not a name"),
        ("/account/viz?show=nothing", 400, "no such choice"),
        ("/account/viz?direction=up", 400, "no such choice"),
        ("/account/viz?since=tomorrow", 400, "not a day"),
        ("/account/viz?since=2026-02-31", 400, "not a day"),
        ("/account/viz?cursor=before:x", 400, "place in a list"),
        ("/account/nobody-here/statement.csv", 404, "There is no such account"),
        ("/account/viz/nothing", 404, "There is no such page"),
        ("/validator/nobody-here", 404, "There is no such validator"),
        ("/committee/999999", 404, "There is no such request"),
        ("/committee?status=lost", 400, "no such choice"),
        ("/invite/999999", 404, "There is no such invite"),
        ("/subscription/nobody-here", 404, "There is no such subscription"),
        ("/proposal/viz/nothing", 404, "There is no such proposal"),
        ("/market/999999", 404, "There is no such market"),
        ("/markets?skip=99999999999", 400, "not a number"),
        ("/key/VIZnothing", 400, "not a public key"),
        ("/search?q=nobody-at-all-here", 404, "Nothing was found"),
        ("/search?q=" + "2" * 40, 404, "Nothing was found"),
        ("/search?q=%3Cscript%3E", 404, "Nothing was found"),
        ("/blocks?before=x", 400, "not a number"),
        ("/blocks?" + "&".join(f"a{number}=1" for number in range(99)), 400, "asks for too much"),
        ("/static/nothing.css", 404, "There is no such page"),
        ("//evil.test", 404, "There is no such page"),
        ("/../../etc/passwd", 404, "There is no such page"),
    ],
)
def test_what_is_not_there_is_a_clear_page_with_its_status(
    explorer: RecordedExplorer, address: str, status: int, said: str
) -> None:
    reply = explorer.reply(address)
    assert (reply.status, reply.form) == (status, HTML)
    assert said in reply.body.decode()
    assert explorer.reply(address, "ru").status == status


NAMED = st.sampled_from(["block", "tx", "account", "validator", "committee", "invite", "subscription", "market", "key"])
PAGES = st.sampled_from([
    "blocks", "block/400", "accounts", "account/viz", "account/viz/rights", "account/viz/shares", "account/viz/bets",
    "account/viz/agreements", "account/viz/statement.csv", "validators", "committee", "committee/1", "proposals",
    "invites", "subscriptions", "markets", "market/1", "disputes", "oracles", f"key/{KEY}", "search", "choose",
])  # fmt: skip
FIELDS = st.sampled_from([
    "cursor", "before", "skip", "show", "direction", "since", "until", "status", "from", "rank", "given", "taken",
    "levers", "opened", "funds", "former", "pays", "paid", "hidden", "returning", "q", "lang", "theme", "back",
])  # fmt: skip
TYPED = st.one_of(
    st.text(max_size=40),
    st.integers(-(1 << 70), 1 << 70).map(str),
    st.sampled_from(
        ["newest", "oldest", "before:0", "after:4294967295", "before:9999999999", "9" * 19, "0" * 40, "%", "%ff%00"]
    ),
    st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", fullmatch=True),
)


@given(
    st.one_of(
        st.text(max_size=60),
        st.builds("/{}/{}".format, NAMED, TYPED),
        st.builds("/{}/{}/{}".format, st.sampled_from(["account", "proposal"]), TYPED, TYPED),
        st.builds("/{}?{}={}&{}={}".format, PAGES, FIELDS, TYPED, FIELDS, TYPED),
    )
)
def test_any_path_and_query_is_a_page(explorer: RecordedExplorer, address: str) -> None:
    reply = explorer.reply("/" + address.lstrip("/"))
    assert reply.status in (200, 303, 400, 404)
    assert b"Traceback" not in reply.body


@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ("400", "/block/400"),
        ("%23400", "/block/400"),
        ("viz", "/account/viz"),
        ("%40viz", "/account/viz"),
        ("VIZ", "/account/viz"),
        (KEY, f"/key/{KEY}"),
    ],
)
def test_a_search_leads_to_the_page_of_what_was_typed(explorer: RecordedExplorer, typed: str, place: str) -> None:
    reply = explorer.reply(f"/search?q={typed}")
    assert (reply.status, (reply.headers or {})["Location"]) == (303, place)


def test_ids_lead_to_their_block_or_transaction_and_beginnings_to_names(explorer: RecordedExplorer) -> None:
    head = explorer.watch.properties["head_block_id"]
    assert (explorer.reply(f"/search?q={head}").headers or {})["Location"] == f"/block/{explorer.watch.head}"
    assert (explorer.reply(f"/block/{head}").headers or {})["Location"] == f"/block/{explorer.watch.head}"
    former = explorer.watch.blocks[5]
    assert (explorer.reply(f"/block/{former.id}").headers or {})["Location"] == f"/block/{former.number}"
    transaction = explorer.watch.transfers[0].transaction
    assert (explorer.reply(f"/search?q={transaction}").headers or {})["Location"] == f"/tx/{transaction}"
    assert 'href="/account/pm0' in explorer.page("/search?q=pm0")
    assert explorer.page("/search?q=").count("<form") == 1


def test_many_operations_of_a_transaction_or_block_are_paged(
    explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MOST_OPERATIONS", 2)
    monkeypatch.setattr(blocks, "MOST_IN_FULL", 1)
    explorer.watch.notify()
    busy = max(explorer.watch.blocks, key=lambda each: each.operations)
    done = explorer.ask("operation_history", "get_ops_in_block", busy.number, False)
    largest = max(explorer.watch.blocks, key=lambda each: each.operations / max(1, each.transactions))
    content = explorer.ask("database_api", "get_block", largest.number)
    one = max(content["transactions"], key=lambda each: len(each["operations"]))
    rows = explorer.ask("operation_history", "get_ops_in_block", largest.number, False)
    identifier = next(each["trx_id"] for each in rows if each["op"] in one["operations"])
    for address, mark, count, size in (
        (f"/block/{busy.number}", '<li>\n<span class="chip', len(done), 2),
        (f"/tx/{identifier}", '<dl class="facts code">', len(one["operations"]), 1),
    ):
        assert count > size
        seen = 0
        for start in range(0, count, size):
            page = explorer.page(f"{address}?from={start or ''}")
            assert (f"from={start + size}" in page) is (start + size < count)
            seen += page.count(mark)
        assert seen == count
    explorer.watch.notify()


def test_a_list_of_blocks_has_them_all_when_the_node_tells_of_few_at_once(
    explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer.watch.notify()
    whole = explorer.page("/blocks?before=90")
    explorer.watch.notify()
    monkeypatch.setattr(summaries, "MOST_READ", 0)
    assert explorer.page("/blocks?before=90") == whole
    assert sum(each.method == "get_blocks" for each in explorer.node.asked[-25:]) == 25
    explorer.watch.notify()


def test_lists_that_the_node_gives_whole_are_paged(explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of subscribers, of the accounts of a key, and of what an account subscribes to."""
    whole, people = explorer.node.ask, [f"reader-{number:03}" for number in range(250)]
    creator = explorer.ask("paid_subscription_api", "get_paid_subscriptions", 0, 1)[0]["creator"]

    async def ask(*calls: NodeCall) -> list[object]:
        return [answer_of(each, found) for each, found in zip(calls, await whole(*calls), strict=True)]

    def answer_of(asked: NodeCall, found: object) -> object:
        if asked.method == "get_key_references":
            return [people]
        if asked.method in ("get_active_paid_subscriptions", "get_inactive_paid_subscriptions"):
            return people
        if asked.method == "get_paid_subscription_options":
            assert isinstance(found, dict)
            return found | {"active_subscribers": people, "active_subscribers_with_auto_renewal": people[:1]}
        return found

    explorer.watch.notify()
    monkeypatch.setattr(explorer.node, "ask", ask)
    for address, mark, field in (
        (f"/subscription/{creator}", "/account/reader-", "skip"),
        (f"/key/{KEY}", "/account/reader-", "skip"),
        ("/account/viz/agreements", "/subscription/reader-", "pays"),
        ("/account/viz/agreements", "/subscription/reader-", "paid"),
    ):
        seen: set[str] = set()
        for skipped in (0, 100, 200):
            page = explorer.page(f"{address}?{field}={skipped or ''}")
            seen |= set(re.findall(f'href="{mark}([0-9]+)"', page))
            assert (f"{field}={skipped + 100}" in page) is (skipped < 200)
        assert len(seen) == 250, address
    explorer.watch.notify()


def test_a_search_that_finds_many_names_leads_to_the_others(
    explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    alike = [each for each in names_of(explorer) if each.startswith("pm")]
    monkeypatch.setattr(search, "MOST_NAMES", len(alike))
    page = explorer.page("/search?q=pm")
    assert all(f'href="/account/{each}"' in page for each in alike)
    explorer.watch.notify()
    monkeypatch.setattr(search, "MOST_NAMES", 3)
    page = explorer.page("/search?q=pm")
    assert f'href="/accounts?from={alike[2]}"' in page
    assert f'href="/account/{alike[3]}"' in explorer.page(f"/accounts?from={alike[2]}")
    explorer.watch.notify()


def test_open_disputes_of_every_oracle_come_from_the_state(
    explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    api, whole = "prediction_market_api", explorer.node.ask
    owners = [each["owner"] for each in explorer.ask(api, "list_oracles", 0, 100)]
    cards = explorer.ask(api, "list_markets", 3, 0, len(owners), True, "newest")
    of_oracle = dict(zip(owners, cards, strict=False))

    async def ask(*calls: NodeCall) -> list[object]:
        return [
            [dispute_of(of_oracle[str(each.arguments[0])])] if each.method == "list_oracle_disputes" else found
            for each, found in zip(calls, await whole(*calls), strict=True)
        ]

    def dispute_of(card: dict[str, object]) -> dict[str, object]:
        return {"market": card, "market_id": card["id"], "disputer": "viz", "voting_end_time": "2027-01-01T00:00:00"}

    assert "Open now" not in explorer.page("/disputes")
    explorer.watch.notify()
    monkeypatch.setattr(markets, "ORACLES_AT_ONCE", 4)
    monkeypatch.setattr(explorer.node, "ask", ask)
    shown = explorer.page("/disputes").partition("Open now")[2].partition("</section>")[0]
    assert sorted(re.findall('href="/market/([0-9]+)"', shown)) == sorted(
        str(each["id"]) for each in of_oracle.values()
    )
    assert len(of_oracle) == len(owners) > 4
    explorer.watch.notify()


def test_lists_from_a_history_that_began_later_say_so(
    explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = ("/proposals", "/disputes", "/account/viz?cursor=before:1")
    assert all("may be missing" not in explorer.page(each) for each in pages)
    explorer.watch.notify()
    monkeypatch.setattr(
        explorer.watch, "properties", {**explorer.watch.properties, "earliest_available_block_num": 1_234}
    )
    assert all("before block 1\u202f234 may be missing" in explorer.page(each) for each in pages[2:])
    for each in pages[:2]:
        page = explorer.page(each)
        assert ("may be missing" in page) is ('rel="next' not in page), each
    explorer.watch.notify()


def test_a_page_is_kept_until_the_next_block(explorer: RecordedExplorer) -> None:
    explorer.page("/committee")
    drawn, asked = explorer.answering.drawn, len(explorer.node.asked)
    first = explorer.page("/committee")
    assert (explorer.answering.drawn, len(explorer.node.asked)) == (drawn, asked)
    explorer.watch.notify()
    assert explorer.page("/committee") == first
    assert explorer.answering.drawn == drawn + 1


def test_kept_pages_are_bounded(explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "KEPT_BYTES", 200_000)
    explorer.watch.notify()
    for name in names_of(explorer)[:30]:
        explorer.page(f"/account/{name}")
    assert 100_000 < explorer.answering.kept_bytes <= 200_000


def test_kept_replies_without_a_body_and_long_addresses_are_bounded(
    explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "KEPT_BYTES", 200_000)
    explorer.watch.notify()
    for number in range(300):
        assert explorer.reply(f"/search?q=7&{number}={'x' * 1_000}").status == 303
    assert 100_000 < explorer.answering.kept_bytes <= 200_000
    drawn = explorer.answering.drawn
    monkeypatch.setattr(explorer.node, "away", "gone")
    assert explorer.reply(f"/search?q=7&299={'x' * 1_000}").status == 303
    explorer.watch.notify()
    assert (explorer.answering.kept_bytes, explorer.answering.drawn) == (0, drawn)


def test_a_node_that_is_away_is_said_with_its_status_and_pages_come_back(explorer: RecordedExplorer) -> None:
    explorer.node.away = "gone"
    try:
        explorer.watch.lose("gone")
        reply = explorer.reply("/committee?status=paid")
        assert (reply.status, reply.headers) == (503, {"Retry-After": "2"})
        assert "does not answer" in reply.body.decode()
        front = explorer.reply("/")
        assert front.status == 200  # from memory
        assert '<p class="away" id="away" role="status">' in front.body.decode()
    finally:
        explorer.node.away = ""
        explorer.watch.away = ""
        explorer.watch.notify()
    assert 'role="status" hidden>' in explorer.page("/")


def test_a_page_that_cannot_be_made_is_said_to_the_visitor_and_the_reason_to_the_log(
    explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def strange(*_: object) -> list[object]:
        return [{"nothing": "of use"}] * 8

    monkeypatch.setattr(explorer.node, "ask", strange)
    with caplog.at_level(logging.ERROR):
        reply = explorer.reply("/account/viz?show=votes")
    assert reply.status == 500
    assert "Something went wrong here" in reply.body.decode()
    assert "KeyError" not in reply.body.decode()
    assert "cannot be made" in caplog.text


def chosen(explorer: RecordedExplorer, query: str, **cookies: str) -> dict[str, str]:
    reply: PageReply = explorer.reply(f"/choose?{query}", **cookies)
    assert reply.status == 303
    return dict(reply.headers or {})


def test_language_and_theme_are_chosen_without_a_script(explorer: RecordedExplorer) -> None:
    assert chosen(explorer, "lang=ru&back=%2Fblocks%3Fbefore%3D5") == {
        "Location": "/blocks?before=5",
        "Set-Cookie": "lang=ru; Path=/; Max-Age=31536000; SameSite=Lax",
    }
    assert chosen(explorer, "theme=other&back=/")["Set-Cookie"].startswith("theme=dark;")
    assert chosen(explorer, "theme=other&back=/", theme="dark")["Set-Cookie"].startswith("theme=light;")
    assert "Set-Cookie" not in chosen(explorer, "lang=xx&theme=pink")
    assert b'<html lang="ru" data-theme="dark">' in explorer.reply("/", "en", lang="ru", theme="dark").body
    assert b'<html lang="en" data-theme="auto">' in explorer.reply("/", "en", lang="xx", theme="pink").body


@pytest.mark.parametrize(
    "back",
    ["https://evil.test/", "//evil.test/", "/\\evil.test", "javascript:alert(1)", "%2F%0d%0aSet-Cookie: a=b", ""],
)
def test_a_choice_leads_back_to_no_other_site(explorer: RecordedExplorer, back: str) -> None:
    assert chosen(explorer, f"lang=ru&back={back}")["Location"] == "/"


def test_assets_are_kept_by_browsers_for_ever_under_the_name_of_what_is_in_them(explorer: RecordedExplorer) -> None:
    page = explorer.page("/")
    for name in ("style.css", "live.js", "icon.svg"):
        assert asset_path(name) in page
        reply = explorer.reply(asset_path(name))
        assert reply.status == 200
        assert "immutable" in (reply.headers or {})["Cache-Control"]
    assert explorer.reply("/favicon.ico").form == "image/svg+xml"


def test_no_page_asks_another_address_or_has_a_script_or_style_of_its_own(explorer: RecordedExplorer) -> None:
    name = names_of(explorer)[5]
    for address in ("/", f"/account/{name}", f"/account/{name}/rights", "/markets", "/validators", "/nothing"):
        text = explorer.reply(address).body.decode()
        assert " style=" not in text
        assert "<script>" not in text
        assert " on" not in "".join(each for each in text.split("<")[1:] if each.startswith(("img", "svg onload")))
        assert "<img" not in text
        assert "src=" not in text.replace(f'src="{asset_path("live.js")}"', "")


@pytest.mark.parametrize("code", CODES)
def test_an_open_page_is_told_what_has_changed(explorer: RecordedExplorer, code: str) -> None:
    parts = explorer.answering.live_parts(code, is_front=True)
    page = explorer.page("/", code)
    assert sorted(parts) == ["live-blocks", "live-figures", "live-round", "live-transfers", "pulse"]
    assert all(f'id="{place}"' in page and part in page for place, part in parts.items())
    assert list(explorer.answering.live_parts(code, is_front=False)) == ["pulse"]
