"""The record survives restarts, is signed, and is told; files of others are bounded; no key is written."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import MagicMock

import msgspec
import pytest

from ledgerd.cli.main import main
from ledgerd.cli.tools.shadow import DIFFERENT, EQUAL, NOT_COMPARED
from ledgerd.codec.codec import codec_of
from ledgerd.protocol.blocks.block import BlockHeader
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.parameters import MAINNET, TESTNET
from ledgerd.protocol.secrets import HIDDEN
from ledgerd.protocol.types.identifiers import BlockId, MerkleRoot
from ledgerd.protocol.types.names import MAX_NAME_BYTES
from ledgerd.shadow.keeping.bundles import LARGEST_ANSWER, MOST_BUNDLES, read_bundle
from ledgerd.shadow.keeping.record import (
    EqualBlock,
    ShadowRecord,
    read_override,
    read_record,
    record_file,
    write_record,
)
from ledgerd.shadow.keeping.report import SIGNED_AS, SignedRecord, bundle_lines
from ledgerd.shadow.process import keep_running, run_shadow
from ledgerd.shadow.settings import FOLDER, ShadowOrder, SnapshotTask
from tests.compare.doubles import HEIGHT, recorded_node
from tests.shadow.findings import finder_in, finding
from tests.shadow.world import Played

SECRET, OTHER = PrivateKey(bytes(range(32))), PrivateKey(bytes(range(1, 33)))
no_process = MagicMock(side_effect=AssertionError("no snapshot is compared here"))


def test_a_record_goes_on_where_it_was(tmp_path: Path) -> None:
    played = Played(1, tmp_path, hours=0)
    played.run(0.1)
    file = record_file(tmp_path, "http://theirs")
    write_record(file, played.record, durably=True)
    before = read_record(file)
    assert before is not None

    played.record = before
    played.start()
    played.run(0.1)

    assert played.record.questions > 2_000
    assert played.record.blocks == played.record.highest - played.record.first_block + 1
    assert played.record.cursor


def test_a_damaged_record_is_said(tmp_path: Path) -> None:
    file = record_file(tmp_path, "url")
    assert read_record(file) is None
    for damaged in (b"{", b'{"cursor":"\xff"}'):
        file.write_bytes(damaged)
        with pytest.raises(OperatorError, match=r"is no record of a shadow .*: move it away"):
            read_record(file)


def test_no_more_bundles_are_written_than_may_be_and_all_are_counted(tmp_path: Path) -> None:
    told: list[str] = []
    finder, record = finder_in(tmp_path, told), ShadowRecord()
    for number in range(1, MOST_BUNDLES + 6):
        finder.report(finding(number, 1, 2), record, 0)

    assert len(list(tmp_path.glob("difference-*"))) == MOST_BUNDLES
    assert record.of_consensus == len(told) == MOST_BUNDLES + 5
    assert record.first is not None
    assert record.first.block == 1


def test_a_bundle_has_no_key_no_control_character_and_a_bounded_answer(tmp_path: Path) -> None:
    told: list[str] = []
    finder, record = finder_in(tmp_path, told), ShadowRecord()
    finder.report(finding(1, SECRET.wif, "\udc80\x1b[2J" + "x" * LARGEST_ANSWER), record, 0)

    assert record.first is not None
    text = Path(record.first.file).read_text()
    assert SECRET.wif not in text + repr(record) + repr(told)
    assert HIDDEN in text
    assert len(text) < LARGEST_ANSWER + 10_000
    bundle = read_bundle(Path(record.first.file))
    lines = list(bundle_lines(bundle, "FILE"))
    assert "\x1b" not in "".join(lines)
    assert "  ledgerd state --at 1 --data-dir DIR --to state-1" in lines
    assert "  ledgerd debug difference FILE --data-dir DIR" in lines
    assert "  chain = testnet" in lines


@pytest.mark.parametrize("raw", [b"", b"[]", b'{"format":1}', b"[" * 10_000, b"\x00", b'{"\xff":1}'])
def test_what_is_no_bundle_is_refused(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(raw)
    with pytest.raises(OperatorError, match="is no difference of a shadow"):
        read_bundle(file)


def test_the_report_says_what_was_compared_and_is_signed_on_wish(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    played = Played(1, tmp_path, hours=0)
    played.run(0.1)
    folder, key = tmp_path / "shadow", tmp_path / "key"
    folder.mkdir()
    assert main(["shadow", "report", "--folder", str(folder)]) == 1
    write_record(record_file(folder, "http://theirs"), played.record, durably=False)
    capsys.readouterr()

    assert main(["shadow", "report", "--folder", str(folder)]) == EQUAL
    out = capsys.readouterr().out
    assert "\nequal\n" in out
    assert "121 blocks, " in out
    assert "last equal at block " in out

    key.write_text(f"{SECRET.wif}\n")
    key.chmod(0o600)
    assert main(["shadow", "report", "--folder", str(folder), "--sign", str(key)]) == EQUAL
    signed = tmp_path / "signed.json"
    signed.write_text(capsys.readouterr().out)
    assert SECRET.wif not in signed.read_text()
    assert main(["shadow", "report", str(signed)]) == EQUAL
    assert "signed " in capsys.readouterr().out

    changed = json.loads(signed.read_text())
    changed["record"]["blocks"] += 1
    signed.write_text(json.dumps(changed))
    assert main(["shadow", "report", str(signed)]) == 1
    assert "this record is not what VIZ" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (f"private-key = {SECRET.wif}", ""),
        ("private-key-file = key", ""),
        ("", "this node has 0 signing keys, and one is needed: add a key file"),
        (f"private-key = {SECRET.wif}\nprivate-key = {OTHER.wif}", "this node has 2 signing keys"),
        (
            "validator-signer = unix:/run/signer",
            "the key of this node is in its signer, which signs nothing but blocks",
        ),
    ],
)
def test_a_record_is_signed_with_the_key_of_the_node_where_it_has_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: str, said: str
) -> None:
    (tmp_path / FOLDER).mkdir()
    write_record(record_file(tmp_path / FOLDER, "url"), ShadowRecord(equal=EqualBlock(7, "", 1)), durably=False)
    (tmp_path / "key").write_text(f"{SECRET.wif}\n")
    (tmp_path / "key").chmod(0o600)
    (tmp_path / "config.ini").write_text(f'plugin = validator\nvalidator = "alice"\n{lines}\n')

    code = main(["shadow", "report", "--sign", "--data-dir", str(tmp_path)])

    out, err = capsys.readouterr()
    assert SECRET.wif not in out + err
    if said:
        assert code == 1
        assert said in err
    else:
        signed = msgspec.json.decode(out, type=SignedRecord)
        signed.require_valid()
        assert (code, signed.key) == (EQUAL, public_key_text(SECRET.public))


def test_the_key_of_a_node_needs_its_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_record(record_file(tmp_path, "url"), ShadowRecord(), durably=False)
    assert main(["shadow", "report", "--folder", str(tmp_path), "--sign"]) == 1
    assert "name its --data-dir" in capsys.readouterr().err


def test_the_signature_of_a_record_is_none_of_a_block_or_a_transaction() -> None:
    """A header begins with the id of the block before, the time, and the name with its length (spec 01, section 11)."""
    longest = BlockHeader(
        previous=BlockId(SIGNED_AS[:20]),
        timestamp=int.from_bytes(SIGNED_AS[20:24], "little"),
        validator="a" * MAX_NAME_BYTES,
        transaction_merkle_root=MerkleRoot(bytes(20)),
        extensions=(),
    )
    packed = codec_of(BlockHeader).encode(longest)

    assert packed[:24] == SIGNED_AS[:24]
    assert packed[24] == MAX_NAME_BYTES < SIGNED_AS[24] < 0x80
    assert all(not SIGNED_AS.startswith(network.chain_id) for network in (MAINNET, TESTNET))


def test_the_exit_code_says_whether_all_is_equal(tmp_path: Path) -> None:
    file = record_file(tmp_path, "url")
    write_record(file, ShadowRecord(), durably=False)
    assert main(["shadow", "report", "--json", "--folder", str(tmp_path)]) == NOT_COMPARED
    write_record(file, ShadowRecord(equal=EqualBlock(7, "", 1), of_answers=1), durably=False)
    assert main(["shadow", "report", "--json", "--folder", str(tmp_path)]) == DIFFERENT


def test_an_override_is_for_some_hours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "shadow").mkdir()
    assert read_override(tmp_path / "shadow") == 0
    assert main(["shadow", "override", "--data-dir", str(tmp_path), "--hours", "2"]) == EQUAL
    assert read_override(tmp_path / "shadow") > 1_700_000_000
    assert main(["shadow", "override", "--data-dir", str(tmp_path), "--hours", "200"]) == 1
    assert "--hours is from 0" in capsys.readouterr().err


def test_the_command_compares_with_the_node_of_this_machine_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    orders: list[ShadowOrder] = []
    monkeypatch.setattr("ledgerd.cli.tools.shadow.run_shadow", lambda order, _: orders.append(order))
    assert main(["shadow", "http://vizd:8090", "--data-dir", str(tmp_path)]) == EQUAL
    assert (
        main(["shadow", "http://vizd:8090", "http://ours", "--folder", "f", "--rate", "7", "--processor", "3"]) == EQUAL
    )
    assert main(["shadow", "http://vizd:8090", "--rate", "0"]) == 1
    assert "--rate has to be above 0" in capsys.readouterr().err
    assert main(["shadow", "http://vizd:8090", "--snapshots", "vizd:8092"]) == 1
    assert "--snapshots needs --data-dir of our node, or --our-snapshots" in capsys.readouterr().err
    places = ["--snapshots", "vizd:8092", "--our-snapshots", "ours:8092", "--snapshot-hours", "1"]
    assert main(["shadow", "http://vizd:8090", *places]) == EQUAL
    assert orders.pop().snapshots == SnapshotTask("vizd:8092", "ours:8092", seconds=3_600)
    assert main(["shadow", "http://vizd:8090", "--snapshots", "vizd:8092", "--data-dir", str(tmp_path)]) == EQUAL
    data = {"data-dir": [str(tmp_path)]}
    assert orders.pop().snapshots == SnapshotTask("vizd:8092", str(tmp_path / "snapshots"), data)

    assert orders == [
        ShadowOrder("http://127.0.0.1:8090", "http://vizd:8090", str(tmp_path / "shadow"), 10.0, 20.0),
        ShadowOrder("http://ours", "http://vizd:8090", "f", 7.0, 3.0),
    ]


def test_the_process_asks_within_its_share_of_a_core_and_leaves_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    start = MagicMock()
    start.return_value.is_running = True
    monkeypatch.setattr("ledgerd.shadow.process.signal.signal", lambda *_: None)
    monkeypatch.setattr("ledgerd.shadow.process.time.sleep", slept.append)
    with recorded_node(tmp_path / "node") as url:
        order = ShadowOrder(url, url, str(tmp_path), 1e6, 1.0, snapshots=SnapshotTask("127.0.0.1:9"))
        run_shadow(order, start, lambda: len(slept) >= 20)

    record = read_record(record_file(tmp_path, url))
    assert record is not None
    assert not record.differences
    assert record.equal.number == HEIGHT
    assert record.questions > 50
    assert sum(slept) > 0
    start.assert_called_once()
    start.return_value.kill.assert_called_once()


def test_a_damaged_record_does_not_end_the_process_and_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("ledgerd.shadow.process.time.sleep", slept.append)
    file = record_file(tmp_path, "http://127.0.0.1:9")
    file.write_text("{")
    order = ShadowOrder("http://127.0.0.1:9", "http://127.0.0.1:9", str(tmp_path), 1e6, 1.0)
    keep_running(order, no_process, lambda: len(slept) > 60)

    assert file.read_text() == "{"
    assert caplog.text.count("nothing is compared: ") == 3
