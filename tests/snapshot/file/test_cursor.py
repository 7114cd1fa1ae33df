"""Records that are cut out of a text without decoding them are those that a decoder of the whole text finds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file import batches
from ledgerd.snapshot.file import cursor as reading
from ledgerd.snapshot.file.batches import RecordBatch
from ledgerd.snapshot.file.cursor import JsonCursor
from tests.snapshot.recorded import small_state

WRITINGS = (
    '{"id":0,"of":[{"id":1},{"id":2}],"more":[{"id":3},{"id":4}]}',
    '{"id":0,"text":"},{\\"id\\":1}],\\"x\\":["}',
    '{"id":0,"id":1}',
    '{"id": 0, "n": [1.5, 1e400, -1e5, 123456789012345678901234567890, true, null]}',
    '{"id":0,"text":"a\x01\tb \udcff \udce9 \\udce9 \\u0041 \\\\u0041"}',
    '{"id":0,"of":{"id":{"id":1}},"or":{}}',
    '{"of":{"id":0}}',
    "17",
    '"},{"',
    "[]",
)


def batches_of(text: str, pieces: int) -> Iterator[RecordBatch]:
    cursor = JsonCursor(text[start : start + pieces] for start in range(0, len(text), pieces))
    cursor.expect("{")
    while not cursor.skips("}"):
        name = str(cursor.value())
        cursor.expect(":")
        cursor.expect("[")
        yield from cursor.batches(name)
        cursor.skips(",")


def records_of(text: str, pieces: int = 1 << 20) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for batch in batches_of(text, pieces):
        assert batch.count == len(batch.records)
        if batch.texts:
            assert [json.loads(each, strict=False) for each in batch.texts] == batch.records
        found.setdefault(batch.section, []).extend(batch.records)
    return found


@given(
    st.lists(st.lists(st.sampled_from(WRITINGS), min_size=1), min_size=1, max_size=4),
    st.integers(1, 400),
    st.integers(1, 400),
)
def test_records_are_those_of_a_decoder_of_the_whole_text(
    sections: list[list[str]], characters: int, pieces: int
) -> None:
    text = "{" + ",".join(f'"s{at}":[{",".join(each)}]' for at, each in enumerate(sections)) + "}"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "CHARACTERS_A_BATCH", characters)
        patch.setattr(reading, "RECORDS_A_BATCH", 1 + characters % 7)
        found = records_of(text, pieces)

    assert found == json.loads(text, strict=False)


@given(st.data())
def test_what_a_decoder_of_the_whole_text_refuses_is_refused_or_taken_as_ever(data: st.DataObject) -> None:
    """The reader asks for no comma between values; whatever else is wrong is said of the record that has it."""
    state = {"account": [{"id": number, "name": "a"} for number in range(9)], "content": [{"id": 0}]}
    text = json.dumps(state, separators=(",", ":"))
    at, new = data.draw(st.integers(1, len(text) - 2)), data.draw(st.sampled_from('{}[]":,0\\ xé'))
    text = text[:at] + new + text[at + data.draw(st.integers(0, 1)) :]
    outcomes = []
    for characters in (0, 100, 10_000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reading, "CHARACTERS_A_BATCH", characters)
            found, fault = list[Any](), ""
            try:
                for batch in batches_of(text, 10_000):
                    found += batch.records
            except (SnapshotError, TypeError) as problem:
                fault = str(problem)
            outcomes.append((found, fault))

    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_most_records_in_the_fixed_writing_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps({**small_state(), "fork_db_head_block": []}, separators=(",", ":"), ensure_ascii=False)
    decoded, decode = list[object](), reading.decode_one

    def counted(text: str, place: int) -> tuple[Any, int]:
        decoded.append(place)
        return decode(text, place)

    monkeypatch.setattr(reading, "decode_one", counted)
    found = records_of(text)

    assert found == {name: records for name, records in json.loads(text).items() if records}
    assert len(decoded) < len(json.loads(text)) + 10 < sum(map(len, found.values()))


@pytest.mark.parametrize("between", [",", ""])
def test_records_that_cannot_be_cut_are_looked_at_once(between: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, cut = list[int](), batches.cut_array

    def counted(array: bytes) -> list[Any]:
        sizes.append(len(array))
        return cut(array)

    monkeypatch.setattr(reading, "cut_array", counted)
    text = '{"account":[' + between.join(['{"id":0,"t":"\x01"}'] * 20_000) + "]}"

    assert len(records_of(text)["account"]) == 20_000
    assert sum(sizes) < len(text)
