"""The page of a shadow: what an operator sees, as text of nobody's making, without a script and within its bounds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ledgerd.rpc.http.responses import Page
from ledgerd.rpc.link.topics import packed_topic
from ledgerd.shadow.gate import GateReport
from ledgerd.shadow.keeping.bundles import MOST_BUNDLES
from ledgerd.shadow.keeping.record import ComparedStatus, EqualBlock, ShadowRecord, record_file, write_record
from ledgerd.shadow.page import MOST_QUESTIONS, MOST_RECORDS, ShadowPage
from tests.shadow.findings import finder_in, finding

NOW = 1_800_000_000
HOSTILE = "<script>alert(1)</script>"


def record_of(name: str = "theirs") -> ShadowRecord:
    return ShadowRecord(
        ours=ComparedStatus("http://ours", "4.1.0", 105, "0a" * 20, 90, NOW - 2),
        theirs=ComparedStatus(f"http://{name}", "4.1.0", 104, "0b" * 20, 90, NOW - 3),
        since=NOW - 172_800,
        first_block=5,
        equal=EqualBlock(104, "0b" * 20, NOW - 3),
        blocks=57_600,
        rounds=2_742,
        questions=1_000_001,
        objects=2_000_002,
        sweeps=3,
    )


def shown(folder: Path, *records: ShadowRecord, gate: GateReport | None = None) -> str:
    for record in records:
        write_record(record_file(folder, record.theirs.url), record, durably=False)
    page = ShadowPage(folder, lambda: NOW)
    if gate is not None:
        page.receive(packed_topic(gate))
    return text_of(page.page())


def text_of(page: Page) -> str:
    return page.body.decode()


def test_it_says_who_is_beside_whom_since_when_how_much_and_that_both_are_equal(tmp_path: Path) -> None:
    text = shown(tmp_path, record_of(), gate=GateReport())

    assert "<h2>http://ours beside http://theirs</h2>" in text
    assert '<li class="well">http://ours and http://theirs are equal in all that was asked</li>' in text
    for words in (
        "2.0 days",
        "from block 5 on",
        "57,600",
        "2,742 rounds",
        "1,000,001",
        "2,000,002",
        "now at the beginning",
    ):
        assert words in text
    seen = "2027-01-15 07:59:57 UTC"
    assert f"<tr><td>last equal</td><td></td><td>104</td><td>{'0b' * 20}</td><td>{seen}</td></tr>" in text
    assert f"<tr><td>http://theirs</td><td>4.1.0</td><td>104</td><td>{'0b' * 20}</td><td>{seen}</td></tr>" in text
    assert "shadow-required is off: blocks are signed whatever the shadow finds." in text
    assert '<meta http-equiv="refresh" content="15">' in text


def test_a_difference_is_explained_in_words_and_only_text_of_the_other_node_is_shown(tmp_path: Path) -> None:
    record = record_of()
    record.apart, record.apart_since = f"the other one is away {HOSTILE}", NOW - 60
    record.doubtful, record.doubt = 2, HOSTILE
    finder_in(tmp_path, []).report(finding(77, HOSTILE, "theirs"), record, NOW)

    text = shown(tmp_path, record, gate=GateReport())

    assert "DIFFER in 1 questions: 1 of consensus, 0 of answers." in text
    assert "<summary>difference-77-1.json: consensus, from block 77 on: database_api.get_block(77)</summary>" in text
    assert f"ledgerd debug difference {tmp_path}/difference-77-1.json --data-dir DIR" in text
    assert "Questions that are answered otherwise: 1" in text
    assert HOSTILE not in text
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 5
    assert "refresh" not in text, "nobody is interrupted who reads"


def test_it_has_no_script_asks_no_other_address_and_is_not_kept(tmp_path: Path) -> None:
    page = ShadowPage(tmp_path, lambda: NOW).page()

    assert re.findall(r"<script|\bon[a-z]+=|\bstyle=|javascript:", text_of(page)) == []
    assert re.findall(r"""(?:href|src)="([^"]*)""", text_of(page)) == ["data:,", "./"]
    assert b"default-src 'none'; style-src 'sha256-" in page.headers
    assert b"script-src" not in page.headers
    assert b"Cache-Control: no-store\r\n" in page.headers
    assert "This node has no shadow: add shadow = URL" in text_of(page)


@pytest.mark.parametrize(
    ("gate", "override", "words"),
    [
        (
            GateReport(True, 2, ""),
            0,
            'class="made">A block may be signed on the head of now.</p><p>shadow-most-behind = 2</p>',
        ),
        (GateReport(True, 0, "they <differ>"), 0, 'class="missed">No block is signed. they &lt;differ&gt;'),
        (GateReport(True, 0, ""), NOW + 60, 'class="missed">Overridden until 2027-01-15 08:01:00 UTC'),
        (GateReport(True, 0, "why"), NOW, 'class="missed">No block is signed. why'),
    ],
)
def test_it_says_whether_a_block_may_be_signed(tmp_path: Path, gate: GateReport, override: int, words: str) -> None:
    (tmp_path / "override").write_text(f"{override}\n")
    assert words in shown(tmp_path, record_of(), gate=gate)


def test_a_file_that_is_damaged_or_large_ends_nothing(tmp_path: Path) -> None:
    record_file(tmp_path, "one").write_text("{")
    (tmp_path / "difference-1-1.json").write_text("{")

    text = shown(tmp_path, record_of(), gate=GateReport())

    assert "is no record of a shadow" in text
    assert "is no difference of a shadow" in text
    assert "are equal in all that was asked" in text


def test_no_more_is_shown_than_its_bounds(tmp_path: Path) -> None:
    record = record_of()
    record.told = [f"question {number}" for number in range(MOST_QUESTIONS + 5)]
    for number in range(MOST_BUNDLES + 5):
        (tmp_path / f"difference-1-{number}.json").write_text("{")
    records = [record_of(f"other{number}") for number in range(MOST_RECORDS + 2)]

    assert f"question {MOST_QUESTIONS}<" not in shown(tmp_path, record)
    text = shown(tmp_path, *records)
    assert text.count("<h2>http://ours beside ") == MOST_RECORDS
    assert text.count("<summary>difference-") == MOST_BUNDLES


def test_a_difference_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        finder_in(tmp_path, []).report(finding(number + 1, 1, 2), ShadowRecord(), NOW)
    page = ShadowPage(tmp_path, lambda: NOW)
    first = text_of(page.page())
    monkeypatch.setattr("ledgerd.shadow.page.read_bundle", None)

    assert text_of(page.page()) == first
    places = [first.index(f"<summary>difference-{number}-{number}.json") for number in (1, 2, 3)]
    assert places == sorted(places)
