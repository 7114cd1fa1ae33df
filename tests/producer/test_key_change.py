"""A validator changes its signing key while its node runs: each slot has its block, by the key of that slot."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.producer.testnet_start import PUBLISHED_INITIATOR_KEY
from ledgerd.protocol.blocks.transaction import unsigned_transaction
from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey
from ledgerd.protocol.operations.validators import ValidatorUpdate
from tests.chain.networks import COMMITTEE_KEY, VIZ
from tests.producer.virtual_time import SETTINGS, Station, World

OLD, NEW = PrivateKey.from_wif(PUBLISHED_INITIATOR_KEY), PrivateKey(b"\5" * 32)
CHANGE, LAST = 40, 90


@pytest.fixture
def station(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Station]:
    """`viz` has every slot of this network."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    with Station(tmp_path, World()) as station:
        station.run_until_block(CHANGE)
        yield station


def declare(station: Station, key: PrivateKey, by: PrivateKey) -> None:
    chain = station.chain
    update = ValidatorUpdate(VIZ, "https://example.test", key.public)
    draft = unsigned_transaction(chain.head_id, chain.head_time + 60, (update,))
    chain.push_transaction(draft.signed(chain.network.chain_id, [by]))


def signers(station: Station, first: int) -> list[PublicKey]:
    blocks = [station.chain.block_at(number) for number in range(first, station.chain.head_number + 1)]
    return [block.signee for block in blocks if block is not None]


def test_with_both_keys_loaded_no_slot_is_missed(station: Station) -> None:
    station.producer.set_settings(SETTINGS.with_keys_of_files([COMMITTEE_KEY, NEW]))
    station.run(3.7)
    declare(station, NEW, by=OLD)
    station.run_until_block(LAST)

    assert station.times == list(range(station.times[0], station.times[0] + 3 * LAST, 3))
    with_update = next(
        number
        for number in range(CHANGE, LAST)
        if (block := station.chain.block_at(number)) is not None and block.transactions
    )
    assert set(signers(station, with_update + 1)) == {NEW.public}
    assert signers(station, with_update)[0] == OLD.public


def test_a_key_that_is_not_loaded_signs_nothing(station: Station) -> None:
    declare(station, NEW, by=OLD)
    station.run(30)
    head = station.chain.head_number
    assert head < CHANGE + 4

    station.producer.set_settings(SETTINGS.with_keys_of_files([COMMITTEE_KEY, NEW]))
    station.run(10)
    assert station.chain.head_number > head
    assert signers(station, head + 1)[0] == NEW.public
