"""Other processes that take a part of an import change nothing of it, whatever becomes of them."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file import cursor
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing import filling, packing
from ledgerd.snapshot.importing.beside import answer, packing_request, processes_beside
from ledgerd.snapshot.importing.filling import fill
from ledgerd.snapshot.importing.packing import PackedBatch, Tallies
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.supervision.asking import AskedProcesses
from tests.snapshot.importing.test_load import contents
from tests.snapshot.recorded import STATES, light_file, packed, small_state

Contents = dict[bytes, list[tuple[bytes, bytes]]]


@pytest.fixture
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cursor, "RECORDS_A_BATCH", 5)
    monkeypatch.setattr(filling, "FEWEST_SENT", 1)


def filled(folder: Path, file: bytes, beside: AskedProcesses | None = None) -> tuple[Contents, Tallies]:
    tallies = Tallies()
    with Store.open(folder, STORED_TABLES) as store:
        fill(store, Snapshot.from_bytes(file), tallies, beside=beside)
    return contents(folder), tallies


def require_same(folder: Path, file: bytes, beside: AskedProcesses) -> None:
    """An import with other processes comes to the state, and to the sums, of one without."""
    alone, counted = filled(folder / "alone", file)
    together, counted_together = filled(folder / "together", file, beside)
    assert together == alone
    assert str(counted_together.tokens) == str(counted.tokens)
    assert counted_together.frozen.frozen == counted.frozen.frozen


@pytest.mark.usefixtures("_small_batches")
def test_a_state_that_several_processes_make_is_that_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = list[int]()
    unpacked = packing.unpacked_batch

    def unpacked_batch(raw: bytes) -> PackedBatch | None:
        taken.append(len(raw))
        return unpacked(raw)

    monkeypatch.setattr(filling, "unpacked_batch", unpacked_batch)
    with processes_beside(TESTNET, 2) as beside:
        for name in STATES:
            require_same(tmp_path / name, light_file(name), beside)
        assert len(beside.pids) == 2
    assert beside.pids == []
    assert len(taken) > 10
    assert 0 not in taken


@pytest.mark.usefixtures("_small_batches")
@pytest.mark.parametrize("which", [signal.SIGKILL, signal.SIGSTOP])
def test_what_a_process_that_is_killed_or_hangs_had_is_done_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, which: signal.Signals
) -> None:
    monkeypatch.setattr(filling, "SILENT_SECONDS", 0.1)
    with processes_beside(TESTNET, 1) as beside:
        (pid,) = beside.pids
        os.kill(pid, which)
        require_same(tmp_path, light_file("open-2-120"), beside)
        assert beside.pids == []
    assert "a process for the import is lost" in caplog.text
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.usefixtures("_small_batches")
@pytest.mark.parametrize(("field", "value"), [("balance", "many VIZ"), ("id", 1), ("name", "null")])
def test_a_record_that_cannot_be_taken_is_named_as_without_other_processes(
    tmp_path: Path, field: str, value: object
) -> None:
    state = small_state()
    state["account"][-1][field] = value
    texts = list[str]()
    with processes_beside(TESTNET, 1) as beside:
        for each in (None, beside):
            with pytest.raises(SnapshotError) as caught:
                filled(tmp_path / str(len(texts)), packed(state), each)
            texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_records_that_cannot_be_taken_are_answered_with_nothing() -> None:
    assert answer(packing_request("account", 0, b'[{"id":0}]')) == b""
    assert answer(packing_request("account", 0, b"[" * 100_000 + b"]" * 100_000)) == b""
