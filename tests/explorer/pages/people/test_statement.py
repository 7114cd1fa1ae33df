"""An account's statement: every operation once, with what it changed, and nothing that a spreadsheet carries out."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Iterator

import pytest

from ledgerd.explorer.pages.people import statement
from ledgerd.explorer.pages.people.statement import FLOWS, harmless
from ledgerd.explorer.words.sentences import forms_of
from tests.explorer.recorded_node import RecordedExplorer, names_of, recorded_explorer


@pytest.fixture(scope="module")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedExplorer]:
    with recorded_explorer("open-pm2", tmp_path_factory.mktemp("open-pm2")) as explorer:
        yield explorer


def lines_of(explorer: RecordedExplorer, address: str, code: str = "en") -> list[dict[str, str]]:
    reply = explorer.reply(address, code)
    assert reply.lines is not None

    async def whole() -> bytes:
        assert reply.lines is not None
        return b"".join([each async for each in reply.lines])

    return list(csv.DictReader(io.StringIO(asyncio.run(whole()).decode())))


def test_every_operation_has_a_line_the_oldest_first(
    explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statement, "LINES_AT_ONCE", 7)
    for name in names_of(explorer)[:6]:
        rows = lines_of(explorer, f"/account/{name}/statement.csv")
        history = explorer.ask("account_history", "get_account_history", name, -1, 1000)
        assert [each["operation"] for each in rows] == [each[1]["op"][0] for each in history]
        assert [int(each["block"]) for each in rows] == [each[1]["block"] for each in history]


def test_transfers_have_their_sign_and_the_other_account(explorer: RecordedExplorer) -> None:
    seen = 0
    for name in names_of(explorer):
        sent = lines_of(explorer, f"/account/{name}/statement.csv?show=transfer&direction=outgoing")
        got = lines_of(explorer, f"/account/{name}/statement.csv?show=transfer&direction=incoming")
        assert all(each["change"].startswith("-") or each["other_account"] in ("", name) for each in sent)
        assert all(not each["change"].startswith("-") for each in got)
        assert {each["asset"] for each in (*sent, *got)} <= {"VIZ", ""}
        seen += len(sent) + len(got)
    assert seen > 3


def test_a_statement_of_days_has_those_alone_and_says_it_in_the_language(explorer: RecordedExplorer) -> None:
    day = explorer.watch.properties["time"][:10]
    whole = lines_of(explorer, "/account/viz/statement.csv")
    assert lines_of(explorer, f"/account/viz/statement.csv?since={day}&until={day}") == [
        each for each in whole if each["time_utc"].startswith(day)
    ]
    assert lines_of(explorer, "/account/viz/statement.csv?until=2001-01-01") == []
    shown = lines_of(explorer, "/account/viz/statement.csv?show=transfer", "ru")
    assert all("переводит" in each["description"] and "<" not in each["description"] for each in shown)


def test_a_long_statement_is_cut_and_says_so(explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statement, "LINES_AT_ONCE", 5)
    monkeypatch.setattr(statement, "MOST_LINES", 10)
    rows = lines_of(explorer, "/account/viz/statement.csv")
    assert len(rows) == 11
    assert rows[-1]["time_utc"] == "# 10 lines are the most; ask for later days for the rest"


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@a", " =1", "\xa0=1", "\uff1d1", "\uff0b1", "\ufe661", "\u207a1"]
)
def test_no_text_of_a_stranger_is_a_formula(text: str) -> None:
    assert harmless(text) == f"'{text}"
    assert harmless("a=1") == "a=1"


@pytest.mark.parametrize("end", ["\n", "\r", "\t", "\r\n", "\u2028", "\u200b", "\u202e", "\x00"])
def test_no_line_of_a_text_is_a_formula(end: str) -> None:
    shown = "\ufffd" * len(end)
    assert harmless(f"a{end}=1") == f"a{shown}=1", "the text stays in its line"
    assert harmless(f"{end}=1") == f"'{shown}=1"


def test_each_operation_is_one_line_of_the_file(explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statement, "note_of", lambda *_: "paid\r\n=cmd|'/c calc'!A1\n\uff1d1")
    name = names_of(explorer)[4]
    rows = lines_of(explorer, f"/account/{name}/statement.csv")
    assert {each["note"] for each in rows} == {"paid\ufffd\ufffd=cmd|'/c calc'!A1\ufffd\uff1d1"}


def test_every_flow_names_fields_of_its_operation() -> None:
    for operation, (payer, payee, amount) in FLOWS.items():
        assert {payer, payee, amount} - {""} <= set(forms_of(operation)), operation
