"""Reading: the header and the records of files that the reference wrote, and every file that is refused."""

from __future__ import annotations

import json
import zlib

import pytest

from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.container import StateWriter
from ledgerd.snapshot.file.read import Snapshot
from tests.snapshot.recorded import packed, recorded_file, small_state


def test_the_header_says_where_the_state_stands() -> None:
    snapshot = Snapshot.from_bytes(recorded_file("open-2-120"))

    assert snapshot.head_number == 120
    assert snapshot.head_id.hex() == "000000783114c465d49d709a23385c8f14d79728"
    assert snapshot.chain_id.hex() == "441adba730c2a8dab953abd87d452bb356627b8a7d181f46b2aaa2c053af2112"


def test_records_come_one_by_one_with_the_name_of_their_section() -> None:
    state = small_state()

    records = list(Snapshot.from_bytes(packed(state)).records())

    names = [name for name, _ in records]
    assert [name for name in names if name == "account"] == ["account"] * len(state["account"])
    assert records[-1] == ("fork_db_head_block", state["fork_db_head_block"])
    for name, section in state.items():
        if isinstance(section, list):
            assert [record for key, record in records if key == name] == section


def test_text_that_is_not_unicode_is_read_as_it_was_written() -> None:
    state = small_state()
    state["account_metadata"][0]["json_metadata"] = 'caf\udce9 \x01 \\ "'

    records = dict(Snapshot.from_bytes(packed(state)).records())

    assert records["account_metadata"] == state["account_metadata"][-1]
    first = next(record for name, record in Snapshot.from_bytes(packed(state)).records() if name == "account_metadata")
    assert first == state["account_metadata"][0]


@pytest.mark.parametrize("size", [1, 2, 7, 100])
def test_records_are_whole_wherever_the_pieces_end(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    state = small_state()
    state["account_metadata"][0]["json_metadata"] = "é\U0001f600\udcff" * 9
    state["numbers"] = [1, -23, 456, True, None, "]"]
    state["number"] = 789
    whole = list(Snapshot.from_bytes(packed(state)).records())

    monkeypatch.setattr("ledgerd.snapshot.file.container._CHUNK", size)

    assert list(Snapshot.from_bytes(packed(state)).records()) == whole
    assert [record for name, record in whole if name in {"numbers", "number"}] == [1, -23, 456, True, None, "]", 789]


def test_a_record_without_an_end_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.snapshot.file.container._CHUNK", 64)
    monkeypatch.setattr("ledgerd.snapshot.file.cursor.LARGEST_RECORD", 1_000)
    state = small_state()
    state["account_metadata"][0]["json_metadata"] = "x" * 5_000

    with pytest.raises(SnapshotError, match="a record has more than 1000 characters"):
        list(Snapshot.from_bytes(packed(state)).records())


def test_a_record_of_very_many_values_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes many times its characters."""
    monkeypatch.setattr("ledgerd.snapshot.file.container._CHUNK", 64)
    monkeypatch.setattr("ledgerd.snapshot.file.cursor.MOST_VALUES", 1_000)
    state = small_state()
    state["account_metadata"][0]["json_metadata"] = [[]] * 5_000

    with pytest.raises(SnapshotError, match="a record has more than 1000 values"):
        list(Snapshot.from_bytes(packed(state)).records())


def test_a_state_that_breaks_off_is_refused() -> None:
    writer = StateWriter()
    writer.add('{"account":[{"id":0')
    header = {"version": 1, "payload_checksum": writer.checksum, "snapshot_block_num": 1}
    header |= {"chain_id": "00" * 32, "snapshot_block_id": "00" * 20}
    file = b"".join(writer.finish(json.dumps(header)))

    with pytest.raises(SnapshotError, match="not valid JSON"):
        list(Snapshot.from_bytes(file).records())


def test_a_text_with_half_of_a_character_is_refused() -> None:
    """JSON can escape what no text holds, and what nothing could write again."""
    writer = StateWriter()
    writer.add('{"account":[{"id":0,"name":"\\ud800"}]}')
    header = {"version": 1, "payload_checksum": writer.checksum, "snapshot_block_num": 1}
    header |= {"chain_id": "00" * 32, "snapshot_block_id": "00" * 20}
    file = b"".join(writer.finish(json.dumps(header)))

    with pytest.raises(SnapshotError, match="no Unicode"):
        list(Snapshot.from_bytes(file).records())


def test_a_changed_state_is_refused() -> None:
    file = packed(small_state(), payload_checksum="00" * 32)

    with pytest.raises(SnapshotError, match="Snapshot checksum mismatch"):
        Snapshot.from_bytes(file)


def test_another_version_is_refused() -> None:
    with pytest.raises(SnapshotError, match="Unsupported snapshot version: 2"):
        Snapshot.from_bytes(packed(small_state(), version=2))


@pytest.mark.parametrize("length", [0, 1, 100, -1])
def test_a_file_that_was_cut_off_is_refused(length: int) -> None:
    with pytest.raises(SnapshotError, match="cut off"):
        Snapshot.from_bytes(packed(small_state())[:length])


def test_a_file_that_is_not_compressed_is_refused() -> None:
    with pytest.raises(SnapshotError, match="damaged"):
        Snapshot.from_bytes(b'{"header":{},"state":{}}')


@pytest.mark.parametrize("text", [b"", b"{}", b'{"header":{}}', b'"header"'])
def test_a_file_of_something_else_is_refused(text: bytes) -> None:
    with pytest.raises(SnapshotError, match="no snapshot"):
        Snapshot.from_bytes(zlib.compress(text))


@pytest.mark.parametrize("header", [b"[]", b"7", b'"1"'])
def test_a_header_that_is_no_object_is_refused(header: bytes) -> None:
    with pytest.raises(SnapshotError, match="header is no object"):
        Snapshot.from_bytes(zlib.compress(b'{"header":' + header + b',"state":{}}'))


@pytest.mark.parametrize("header", [b"{", b"{1}", b"[" * 100_000])
def test_a_header_that_is_no_json_is_refused(header: bytes) -> None:
    with pytest.raises(SnapshotError, match="not valid JSON"):
        Snapshot.from_bytes(zlib.compress(b'{"header":' + header + b',"state":{}}'))


def test_a_header_without_a_chain_is_refused() -> None:
    with pytest.raises(SnapshotError, match="header of the snapshot cannot be read"):
        Snapshot.from_bytes(packed(small_state(), chain_id=[]))


def test_the_reader_tells_how_many_records_it_has_read() -> None:
    snapshot, told = Snapshot.from_bytes(recorded_file("open-2-120")), list[int]()
    snapshot.progress = told.append
    count = sum(each.count for each in snapshot.batches() if each.section in snapshot.object_counts)

    assert snapshot.size == count
    assert count <= told[-1] <= count + 10  # members of the file that are no section
