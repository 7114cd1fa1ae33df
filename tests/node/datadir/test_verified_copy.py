"""The last verified point before `assume-valid`: kept, gone back to also after a kill, and forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.basics.durable import sync_folder
from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.assumption import Assumption
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.node.datadir import verified_copy
from ledgerd.node.datadir.state_files import StateFiles
from ledgerd.node.datadir.verified_copy import GOING_BACK, VERIFIED, VerifiedCopy, read_banned_once
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.state.files.disk import DATA_FILE
from tests.chain.networks import SMALL, Network

KEPT, LATER, ASSUMED = 40, 90, 1_000
PEER = "203.0.113.7"


def assumption(number: int = ASSUMED) -> Assumption:
    return Assumption(number, BlockId(number.to_bytes(4, "big") + bytes(16)))


class Directory:
    """A data directory whose chain is open only while it grows."""

    def __init__(self, folder: Path, height: int) -> None:
        self.folder = folder
        state = folder / STATE_FOLDER
        self.files = StateFiles(state, state, SMALL)
        self.copy = VerifiedCopy(self.files)
        if height:
            self.grow(height)
        else:
            state.mkdir(parents=True)

    def grow(self, height: int, assumed: Assumption | None = None) -> None:
        network = Network(self.folder)
        if assumed is not None:
            network.chain.assume_valid(assumed)
        if not network.chain.head_number:
            network.start()
        network.produce(height - network.chain.head_number)
        network.chain.close()

    def standing(self) -> tuple[int, int, Assumption | None]:
        """Head of state and log, and what the state waits for."""
        network = Network(self.folder)
        chain: Chain = network.chain
        try:
            found = chain.head_number, chain.block_log.head_number, chain.assumption
            network.produce(1)  # it goes on from there
            return found
        finally:
            chain.close()


@pytest.mark.parametrize("height", [0, KEPT])
def test_a_node_goes_back_to_where_it_was(tmp_path: Path, height: int) -> None:
    place = Directory(tmp_path, height)
    place.copy.keep(ASSUMED)
    place.grow(LATER, assumption())
    place.copy.keep(ASSUMED)  # a start in between: the copy stays that of the verified state
    place.copy.resume(assumption())
    place.copy.begin_going_back((PEER,))
    place.copy.resume(assumption())
    assert read_banned_once(place.files.folder) == (PEER,)
    assert read_banned_once(place.files.folder) == ()
    assert not (place.files.folder / VERIFIED).exists()
    if height:
        head, logged, waited = place.standing()
        assert (head, waited) == (KEPT, None)
        assert logged <= KEPT
    else:
        assert not place.files.exists
        assert place.files.full_log_head == 0


@pytest.mark.parametrize("height", [0, KEPT])
@pytest.mark.parametrize("step", ["_cut_logs", "forget", "sync_folder"])
def test_a_kill_on_the_way_back_is_made_up_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, height: int, step: str
) -> None:
    place = Directory(tmp_path, height)
    place.copy.keep(ASSUMED)
    place.grow(LATER, assumption())
    place.copy.begin_going_back(())

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(verified_copy if step == "sync_folder" else VerifiedCopy, step, killed)
        with pytest.raises(KeyboardInterrupt):
            place.copy.go_back()
    place.copy.resume(assumption())
    assert place.files.head == height
    assert place.files.full_log_head <= height
    if height:
        assert place.standing()[0] == KEPT


def test_the_copy_is_durable_in_its_place_before_the_note_of_going_back_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loss of power may keep the later of two renames alone, unless the folders are flushed in between."""
    place = Directory(tmp_path, KEPT)
    place.copy.keep(ASSUMED)
    place.grow(LATER, assumption())
    place.copy.begin_going_back(())
    done: list[str] = []
    flush, rename = sync_folder, Path.replace

    def flushed(folder: Path) -> None:
        done.append(f"flush {folder.name}")
        flush(folder)

    def renamed(path: Path, target: Path) -> Path:
        done.append(path.name)
        return rename(path, target)

    monkeypatch.setattr(verified_copy, "sync_folder", flushed)
    monkeypatch.setattr(Path, "replace", renamed)
    place.copy.go_back()

    begin, end = done.index(DATA_FILE), done.index(GOING_BACK)
    assert set(done[begin + 1 : end]) == {f"flush {place.files.folder.name}", f"flush {VERIFIED}"}
    assert done[end + 1 :] == [f"flush {place.files.folder.name}"]


def test_without_the_option_or_with_another_block_a_start_goes_back(tmp_path: Path) -> None:
    for number, asked in enumerate((None, assumption(2_000))):
        place = Directory(tmp_path / str(number), KEPT)
        place.copy.keep(ASSUMED)
        place.grow(LATER, assumption())
        place.copy.resume(asked)
        assert place.standing()[0] == KEPT


def test_the_copy_of_a_state_that_is_not_provisional_any_more_is_forgotten(tmp_path: Path) -> None:
    place = Directory(tmp_path, KEPT)
    place.copy.keep(ASSUMED)
    place.copy.resume(assumption())
    assert not (place.files.folder / VERIFIED).exists()
    assert place.files.head == KEPT


def test_nothing_is_copied_when_the_chain_has_that_block_or_there_is_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Directory(tmp_path, KEPT)
    place.copy.keep(KEPT)
    assert not (place.files.folder / VERIFIED).exists()
    monkeypatch.setattr(verified_copy, "SPARE", 1 << 62)
    with pytest.raises(OperatorError, match="make room"):
        place.copy.keep(ASSUMED)


def test_a_log_whose_state_is_missing_is_moved_and_not_cut(tmp_path: Path) -> None:
    place = Directory(tmp_path, 0)
    place.copy.keep(ASSUMED)
    place.grow(LATER, assumption())
    packed = (place.files.logs / "block_log").read_bytes()
    assert packed.strip(b"\0")
    place.files.remove()

    place.copy.resume(assumption())

    (moved,) = tmp_path.rglob("*-1/block_log")
    assert moved.read_bytes() == packed
    assert place.files.full_log_head == 0
