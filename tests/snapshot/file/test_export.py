"""Export: a state of the reference's, taken in and written again, is the text that the reference wrote.

A usual run takes in one file whole, and others without most of their block summaries;
`EVERY_CHAIN=1 scripts/test tests/snapshot/file` takes all of each.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ledgerd.codec.json.text import dumps
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.protocol.types.time_text import parse_time_text
from ledgerd.snapshot.file.export import Occasion, export
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.filling import fill
from ledgerd.state import StateReader, Store, View
from ledgerd.state.objects import TABLES
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.objects.money.vesting import FIX_VESTING_DELEGATIONS, FixVestingDelegation
from ledgerd.state.objects.transactions import KNOWN_TRANSACTIONS, KnownTransaction
from tests.additions import METADATA, counts_with_additions, state_with_additions
from tests.recorded import recorded_sections, recorded_snapshot
from tests.snapshot.recorded import STATES, light_file, packed, recorded_file, small_state, text_of


class Filled(NamedTuple):
    """A store with a recorded state in it, and what was recorded."""

    folder: Path
    file: bytes
    store: Store
    occasion: Occasion


@pytest.fixture(scope="module", params=STATES)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    is_whole = request.param == STATES[0] or "EVERY_CHAIN" in os.environ
    file = (recorded_file if is_whole else light_file)(request.param)
    snapshot = Snapshot.from_bytes(file)
    folder = tmp_path_factory.mktemp("state")
    with Store.open(folder, TABLES) as store:
        block = fill(store, snapshot)
        created = parse_time_text(str(snapshot.header["snapshot_creation_time"]))
        yield Filled(folder, file, store, Occasion(snapshot.chain_id, created, block))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, TABLES) as store:
        fill(store, Snapshot.from_bytes(packed(small_state())))
        yield store


OCCASION = Occasion(Snapshot.from_bytes(packed(small_state())).chain_id, created=0)


def exported(view: View, occasion: Occasion) -> bytes:
    file = io.BytesIO()
    export(view, file, occasion)
    return file.getvalue()


def test_every_byte_of_the_text_is_what_the_reference_wrote_but_for_what_later_versions_add(filled: Filled) -> None:
    written, given = text_of(exported(filled.store, filled.occasion)), text_of(filled.file)
    ours, recorded = json.loads(written), json.loads(given)
    state = dumps(state_with_additions(recorded["state"]))

    assert given.endswith(dumps(recorded["state"]) + "}")
    assert written.endswith(f',"state":{state}}}')
    counts = counts_with_additions(recorded["header"]["object_counts"])
    checksum = hashlib.sha256(state.encode("utf-8", "surrogateescape")).hexdigest()
    header = {**recorded["header"], "payload_checksum": checksum, "object_counts": counts}
    assert json.dumps(ours["header"]) == json.dumps(header)


MARKETS = (
    "open-up/state-3152",
    "open-pm2/state-463",
    "open-pm/state-1200",
    "open-big/state-1350",
    "open-main15/state-1216",
)


@pytest.mark.parametrize("name", MARKETS if "EVERY_CHAIN" in os.environ else MARKETS[:2])
def test_a_state_with_markets_is_taken_in_and_written_again_but_for_what_clients_say_of_them(
    name: str, tmp_path: Path
) -> None:
    snapshot = Snapshot.from_bytes(zlib.compress(recorded_snapshot(name), 1))
    with Store.open(tmp_path, TABLES) as store:
        block = fill(store, snapshot)
        ours = json.loads(text_of(exported(store, Occasion(snapshot.chain_id, 0, block))))
        assert store.verify() == []

    recorded = recorded_sections(name)
    assert recorded.pop(METADATA)
    assert json.dumps(ours["state"]) == json.dumps(recorded)


def test_the_objects_are_the_same_after_they_were_on_the_disk(filled: Filled) -> None:
    before = exported(filled.store, filled.occasion)
    filled.store.commit()
    filled.store.close()

    with Store.open(filled.folder, TABLES) as reopened:
        assert exported(reopened, filled.occasion) == before
        assert reopened.verify() == []
    with StateReader.open(filled.folder, TABLES) as reader, reader.snapshot() as view:
        assert exported(view, filled.occasion) == before


def test_the_checksum_is_returned(store: Store) -> None:
    file = io.BytesIO()

    checksum = export(store, file, OCCASION).checksum

    assert json.loads(text_of(file.getvalue()))["header"]["payload_checksum"] == checksum


def test_a_state_whose_head_block_is_not_known_ends_with_the_last_section(store: Store) -> None:
    state = json.loads(text_of(exported(store, OCCASION)))["state"]

    assert list(state)[-1] == "pm_creator_ban"


def test_pending_transactions_are_left_out_and_not_counted(store: Store) -> None:
    with store.editing(globals_ := store.get(DYNAMIC_GLOBAL_PROPERTIES, 0)):
        globals_.time = 9
    pending, taken = (TransactionId(bytes([number]) * 20) for number in (1, 2))
    for trx_id in (pending, taken):
        store.create(KNOWN_TRANSACTIONS, KnownTransaction(packed_trx=b"\x01\xff", trx_id=trx_id, expiration=9))

    written = json.loads(text_of(exported(store, OCCASION._replace(pending={pending}))))

    assert written["state"]["transaction"] == [
        {"id": 1, "packed_trx": "01ff", "trx_id": "02" * 20, "expiration": "1970-01-01T00:00:09"}
    ]
    assert written["header"]["object_counts"]["transaction"] == 1


def test_expired_transactions_that_are_not_forgotten_yet_are_left_out(store: Store) -> None:
    with store.editing(globals_ := store.get(DYNAMIC_GLOBAL_PROPERTIES, 0)):
        globals_.time = 100
    for number, expiration in enumerate((99, 100, 101)):
        trx_id = TransactionId(bytes([number]) * 20)
        store.create(KNOWN_TRANSACTIONS, KnownTransaction(packed_trx=b"", trx_id=trx_id, expiration=expiration))

    written = json.loads(text_of(exported(store, OCCASION)))

    assert [each["id"] for each in written["state"]["transaction"]] == [1, 2]


def test_more_objects_than_are_written_at_once_are_all_there(store: Store) -> None:
    for number in range(1_500):
        store.create(FIX_VESTING_DELEGATIONS, FixVestingDelegation(vesting_shares=number))

    state = json.loads(text_of(exported(store, OCCASION)))["state"]

    assert [each["id"] for each in state["fix_vesting_delegation"]] == list(range(1_500))
    assert state["fix_vesting_delegation"][-1]["vesting_shares"] == "0.001499 SHARES"


def test_the_same_state_gives_the_same_file(store: Store) -> None:
    assert exported(store, OCCASION) == exported(store, OCCASION)


def test_the_head_block_is_written_as_the_network_knows_it(filled: Filled) -> None:
    assert isinstance(filled.occasion.head_block, Block)
    head = json.loads(text_of(filled.file))["header"]["snapshot_block_id"]
    assert filled.occasion.head_block.id.hex() == head
