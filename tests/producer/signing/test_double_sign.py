from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from ledgerd.producer.signing.double_sign import FILE, LastSigned
from ledgerd.producer.time.clock import SECOND
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.constants import INITIATOR_ACCOUNT
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.parameters import MAINNET, TESTNET
from tests.chain.networks import GENESIS, Network
from tests.producer.virtual_time import Station, World


@pytest.fixture
def block(tmp_path: Path) -> Block:
    network = Network(tmp_path / "network")
    (block,) = network.produce()
    network.chain.close()
    return block


def test_a_fresh_directory_permits_everything(tmp_path: Path) -> None:
    assert LastSigned(tmp_path, TESTNET.chain_id).refusal(GENESIS, 0) == ""


def test_a_slot_is_signed_once(tmp_path: Path, block: Block) -> None:
    signed = LastSigned(tmp_path, TESTNET.chain_id)
    signed.record(block)

    assert "was signed here already" in signed.refusal(block.timestamp, 0)
    assert "was signed here already" in signed.refusal(block.timestamp - 3, 0)
    assert signed.refusal(block.timestamp + 3, 0) == ""


def test_the_record_survives_a_restart_and_holds_until_the_head_has_caught_up(tmp_path: Path, block: Block) -> None:
    LastSigned(tmp_path, TESTNET.chain_id).record(block)

    again = LastSigned(tmp_path, TESTNET.chain_id)

    assert again.time == block.timestamp
    assert f"this node signed block #{block.number}" in again.refusal(block.timestamp + 30, block.timestamp - 3)
    assert str(tmp_path / FILE) in again.refusal(block.timestamp + 30, block.timestamp - 3)
    assert again.refusal(block.timestamp + 30, block.timestamp) == ""


def test_the_block_is_synced_before_the_record_counts(
    tmp_path: Path, block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bool] = []
    monkeypatch.setattr(os, "fsync", lambda _: synced.append((tmp_path / FILE).exists()))

    LastSigned(tmp_path, TESTNET.chain_id).record(block)

    assert synced[0] is False
    assert synced[1:] == [True]


def test_a_block_that_was_not_applied_is_found_again_where_it_fits(tmp_path: Path, block: Block) -> None:
    LastSigned(tmp_path, TESTNET.chain_id).record(block)
    again = LastSigned(tmp_path, TESTNET.chain_id)

    assert again.unapplied(block.previous, 0) == block
    assert again.unapplied(block.id, 0) is None
    assert again.unapplied(block.previous, block.timestamp) is None


@pytest.mark.parametrize(
    "text", ["", "{", '{"format":1}', '{"format":2,"chain":"","time":1,"number":1,"id":"","block":""}']
)
def test_a_record_that_cannot_be_read_stops_the_start(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)

    with pytest.raises(OperatorError, match=FILE):
        LastSigned(tmp_path, TESTNET.chain_id)


def test_a_record_that_the_system_does_not_let_us_read_is_not_called_damaged(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(OperatorError, match="Is a directory: see to its owner and to the disk, and leave the file"):
        LastSigned(tmp_path, TESTNET.chain_id)


def test_a_pipe_in_the_place_of_the_record_stops_the_start_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / FILE)
    with pytest.raises(OperatorError, match="it is a pipe or a device, and no file"):
        LastSigned(tmp_path, TESTNET.chain_id)


def test_a_record_of_another_chain_stops_the_start(tmp_path: Path, block: Block) -> None:
    LastSigned(tmp_path, TESTNET.chain_id).record(block)

    with pytest.raises(OperatorError, match="another chain"):
        LastSigned(tmp_path, MAINNET.chain_id)


def test_a_node_that_was_killed_between_signing_and_applying_applies_the_same_block(tmp_path: Path) -> None:
    with Station(tmp_path, World()) as station:
        station.run_until_block(20)
        head = station.chain.head_time
        lost = station.chain.generate_block(
            head + 3, INITIATOR_ACCOUNT, next(iter(station.producer.settings.keys.values()))
        )
        station.signed.record(lost)
        station.restart(SECOND)

        assert station.chain.head_id == lost.id
        station.run_until_block(25)
        assert station.times == sorted(set(station.times))


def test_a_node_whose_state_is_older_than_its_record_refuses_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Station(tmp_path / "old", World()) as old:
        old.run_until_block(30)
    record = (tmp_path / "old" / FILE).read_bytes()
    world = World()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / FILE).write_bytes(record)

    with Station(tmp_path / "new", world) as restored:
        restored.run(200)

        assert restored.chain.head_number == 0
    assert "production waits until the chain has come that far" in caplog.text


def test_a_flipped_bit_anywhere_stops_the_start_until_a_person_says_so(tmp_path: Path, block: Block) -> None:
    LastSigned(tmp_path, TESTNET.chain_id).record(block)
    file = tmp_path / FILE
    whole = file.read_bytes()

    for place in range(len(whole)):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 7
        file.write_bytes(flipped)
        with pytest.raises(OperatorError):
            LastSigned(tmp_path, TESTNET.chain_id)
    file.write_bytes(whole)
    assert LastSigned(tmp_path, TESTNET.chain_id).time == block.timestamp


def test_a_record_whose_checksum_was_set_aside_by_the_damage_stops_the_start(tmp_path: Path, block: Block) -> None:
    LastSigned(tmp_path, TESTNET.chain_id).record(block)
    text = (tmp_path / FILE).read_text()
    earlier = text.replace(f'"time":{block.timestamp}', '"time":1')
    (tmp_path / FILE).write_text(earlier.replace('"format":2', '"format":1'))

    with pytest.raises(OperatorError, match="cannot be read"):
        LastSigned(tmp_path, TESTNET.chain_id)


def test_a_record_with_bytes_that_are_no_text_stops_the_start(tmp_path: Path, block: Block) -> None:
    LastSigned(tmp_path, TESTNET.chain_id).record(block)
    data = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(data.replace(b'"block":"0', b'"block":"\x99'))

    with pytest.raises(OperatorError, match="cannot be read"):
        LastSigned(tmp_path, TESTNET.chain_id)


def test_a_record_of_a_time_that_no_block_has_stops_the_start(tmp_path: Path, block: Block) -> None:
    LastSigned(tmp_path, TESTNET.chain_id).record(block)
    fields = json.loads((tmp_path / FILE).read_bytes()) | {"format": 1, "checksum": "", "time": 1 << 32}
    (tmp_path / FILE).write_text(json.dumps(fields))

    with pytest.raises(OperatorError, match="cannot be read"):
        LastSigned(tmp_path, TESTNET.chain_id)


def test_a_record_of_another_version_stops_the_start(tmp_path: Path, block: Block) -> None:
    LastSigned(tmp_path, TESTNET.chain_id).record(block)
    file = tmp_path / FILE
    other = json.loads(file.read_bytes()) | {"format": 1}
    del other["checksum"]
    file.write_text(json.dumps(other))

    with pytest.raises(OperatorError, match="of another version of this program; remove the file only when"):
        LastSigned(tmp_path, TESTNET.chain_id)


def test_on_a_full_disk_the_block_is_not_sent_and_the_operator_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with Station(tmp_path, World()) as station:
        station.run_until_block(3)
        signed = (tmp_path / FILE).read_bytes()
        with monkeypatch.context() as full:
            full.setattr("ledgerd.basics.durable.os.fsync", is_full)
            with pytest.raises(OperatorError, match=r"cannot be written .*No space left.* is not sent"):
                station.run(10)
        assert station.chain.head_number == 3
        assert (tmp_path / FILE).read_bytes() == signed

        station.restart(pause=10 * SECOND)
        station.run_until_block(5)
        assert len(set(station.times)) == 5
