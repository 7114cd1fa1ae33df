"""What a reference node writes of memory that it never set: a snapshot with it is taken, as if there were zeros."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.codec import DecodeError, codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.types.names import MAX_NAME_BYTES, NO_NAME
from ledgerd.snapshot.file.export import Occasion, export
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.file.sections import BY_NAME
from ledgerd.snapshot.importing.load import load
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.transactions import REVERSIBLE_BLOCKS, ReversibleBlock
from ledgerd.state.objects.validators import VALIDATOR_CONFIRMATIONS
from tests.chain.networks import SMALL, VIZ, VIZ_KEY, Clock
from tests.chain.recorded_chains import network_of
from tests.chain.same_state import assert_same_state
from tests.chain.whole_state import first_change, whole_state
from tests.snapshot.recorded import packed, recorded_file, text_of

LIVE = "live-152"
RESIDUALS = {"open-1-600": 637, "open-main-480": 0}
"""Tokens beyond the supply, made from nothing by fixed awards."""

SECTION = "block_post_validation"
NAMES, FLAGS = "current_shuffled_validators", "current_shuffled_validators_validations"
PLACES = 21
CONFIRMATIONS = BY_NAME[SECTION]

BYTES = st.binary(min_size=PLACES, max_size=PLACES)
TAKEN = st.lists(st.booleans(), min_size=PLACES, max_size=PLACES)


def record(names: bytes, flags: bytes) -> dict[str, Any]:
    return {"id": 7, "block_num": 8, "block_id": "00" * 20, NAMES: names.hex(), FLAGS: flags.hex()}


def row(taken: list[bool]) -> bytes:
    """Names in some places."""
    return b"".join((b"alice" if is_taken else b"").ljust(MAX_NAME_BYTES, b"\0") for is_taken in taken)


def recorded_state(name: str) -> dict[str, Any]:
    """A recorded state without most of its block summaries."""
    state: dict[str, Any] = json.loads(text_of(recorded_file(name)))["state"]
    state["block_summary"] = state["block_summary"][:4]
    return state


@contextmanager
def imported(state: dict[str, Any], name: str, folder: Path) -> Iterator[Store]:
    chain, _, _ = name.rpartition("-")
    network = network_of(chain)
    with Store.open(folder, STORED_TABLES) as store:
        load(store, Snapshot.from_bytes(packed(state, chain_id=network.chain_id.hex())), network, RESIDUALS[name])
        yield store


def live_state() -> dict[str, Any]:
    state: dict[str, Any] = json.loads(text_of(recorded_file(LIVE)))["state"]
    return state


def continued(file: bytes, folder: Path) -> Chain:
    """A chain that begins with a snapshot."""
    (folder / STATE_FOLDER).mkdir(parents=True)
    with Store.open(folder / STATE_FOLDER, STORED_TABLES) as store:
        head = load(store, Snapshot.from_bytes(file), TESTNET)
        assert head is not None
        store.create(REVERSIBLE_BLOCKS, ReversibleBlock(number=head.number, packed=head.packed))
        store.commit()
    return Chain.open(folder, TESTNET, clock=Clock(), space=SMALL)


@given(TAKEN, BYTES)
def test_a_flag_of_a_place_without_a_name_is_false_whatever_its_byte(taken: list[bool], memory: bytes) -> None:
    flags = bytes(0 if is_taken else byte for is_taken, byte in zip(taken, memory, strict=True))

    confirmation = CONFIRMATIONS.parse(record(row(taken), flags))

    assert confirmation == CONFIRMATIONS.parse(record(row(taken), bytes(PLACES)))
    assert json.loads(CONFIRMATIONS.text(confirmation))[FLAGS] == "00" * PLACES


@given(TAKEN, BYTES)
def test_a_flag_of_a_place_with_a_name_is_true_if_its_byte_is_not_zero(taken: list[bool], memory: bytes) -> None:
    confirmation = CONFIRMATIONS.parse(record(row(taken), memory))

    expected = [is_taken and byte != 0 for is_taken, byte in zip(taken, memory, strict=True)]
    assert list(confirmation.current_shuffled_validators_validations) == expected
    assert json.loads(CONFIRMATIONS.text(confirmation))[FLAGS] == bytes(expected).hex()


@given(st.binary(max_size=MAX_NAME_BYTES - 1))
def test_bytes_behind_the_end_of_a_name_are_no_part_of_it(rest: bytes) -> None:
    nameless = (b"\0" + rest).ljust(MAX_NAME_BYTES, b"\0")
    named = (b"alice\0" + rest)[:MAX_NAME_BYTES].ljust(MAX_NAME_BYTES, b"\0")

    confirmation = CONFIRMATIONS.parse(record(named + nameless, b"\1\1"))

    assert confirmation.current_shuffled_validators == ("alice", NO_NAME)
    assert confirmation.current_shuffled_validators_validations == (True, False)


@pytest.mark.parametrize("flags", [b"", bytes(PLACES - 1), bytes(PLACES + 1)])
def test_flags_of_another_number_of_places_are_refused(flags: bytes) -> None:
    with pytest.raises(DecodeError, match=f"^{FLAGS}: {len(flags)} flags are not those of {PLACES} places"):
        CONFIRMATIONS.parse(record(bytes(PLACES * MAX_NAME_BYTES), flags))


def test_the_former_names_of_the_fields_are_read_alike() -> None:
    old = record(row([True, False]), b"\x03\x03")
    for name in (NAMES, FLAGS):
        old[name.replace("validators", "witnesses", 1)] = old.pop(name)

    assert CONFIRMATIONS.parse(old) == CONFIRMATIONS.parse(record(row([True, False]), b"\x01\x00"))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["open-1-600", "open-main-480"])
def test_a_state_whose_unset_memory_is_random_is_imported_as_one_of_zeros(tmp_path: Path, name: str, seed: int) -> None:
    source = random.Random(seed)  # noqa: S311 - the same in every run
    clean = recorded_state(name)
    dirty = copy.deepcopy(clean)
    for confirmation in dirty[SECTION]:
        names, flags = (bytes.fromhex(confirmation[field]) for field in (NAMES, FLAGS))
        assert not any(flags)
        starts = range(0, len(names), MAX_NAME_BYTES)
        confirmation[FLAGS] = bytes(0 if names[start] else source.randrange(1, 256) for start in starts).hex()
        assert confirmation[FLAGS] != flags.hex()

    with imported(clean, name, tmp_path / "clean") as one, imported(dirty, name, tmp_path / "dirty") as two:
        assert first_change(whole_state(one), whole_state(two)) is None


def test_a_snapshot_of_a_running_node_is_taken_and_written_with_zeros(tmp_path: Path) -> None:
    assert [each[FLAGS] for each in live_state()[SECTION]] == ["03"]
    written = BytesIO()

    with Store.open(tmp_path, STORED_TABLES) as store:
        head = load(store, Snapshot.from_bytes(recorded_file(LIVE)), TESTNET)
        (confirmation,) = store.scan(VALIDATOR_CONFIRMATIONS)
        export(store, written, Occasion(TESTNET.chain_id, 0, head))

    assert confirmation.current_shuffled_validators_validations == (False,)
    assert [each[FLAGS] for each in json.loads(text_of(written.getvalue()))["state"][SECTION]] == ["00"]


def test_a_node_goes_on_from_a_snapshot_of_a_running_node_as_from_one_of_zeros(tmp_path: Path) -> None:
    clean = live_state()
    clean[SECTION][0][FLAGS] = "00"
    ours = continued(recorded_file(LIVE), tmp_path / "live")
    theirs = continued(packed(clean), tmp_path / "zeros")
    with ours, theirs:
        assert_same_state(ours, theirs)
        for _ in range(3):
            block = ours.generate_block(ours.slot_time(1), VIZ, VIZ_KEY)
            assert ours.push_block(block).has_moved
            assert theirs.push_block(codec_of(Block).decode(block.packed)).has_moved
        assert ours.head_number == 155
        assert_same_state(ours, theirs)
