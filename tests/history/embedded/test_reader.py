"""Other processes read the history while it is written: whole commits, in step with the block log."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ledgerd.chain.ledger.events import IrreversibleAdvanced
from ledgerd.chain.log.block_log import BlockLog
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.embedded.log_bytes import LogBytes
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.settings import HistorySettings
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.chain.networks import start_seven
from tests.chain.recorded_chains import advance, open_chain
from tests.history.histories import HISTORY_FOLDER, closed_view, followed, shown_operations
from tests.history.made_blocks import NAMES, block_on, told
from tests.recorded import recorded_answers

ROOT = Path(__file__).parents[3]
NAME, STOPS = "open-main", (100, 300, 600, 900)

READER = """
import sys
from pathlib import Path
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.settings import HistorySettings
from tests.history.histories import shown_operations
from tests.recorded import recorded_answers

folder = Path(sys.argv[1])
answers = recorded_answers("open-main", 900)["get_ops_in_block"]
history = EmbeddedHistory.open(folder / "history", folder / "state", HistorySettings())
while sys.stdin.readline():
    with history.reading() as view:
        head = view.head_number
        assert all(shown_operations(view, number) == answers[number, False] for number in range(1, head + 1))
        assert view.operations_of(head + 1) == []
        print(head, flush=True)
"""


def test_another_process_sees_each_commit(tmp_path: Path) -> None:
    with open_chain(NAME, tmp_path) as chain, followed(chain, tmp_path):
        reader = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-c", READER, str(tmp_path)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with reader:
            assert reader.stdin is not None
            assert reader.stdout is not None
            for height in STOPS:
                advance(chain, NAME, height)
                reader.stdin.write("\n")
                reader.stdin.flush()
                assert reader.stdout.readline() == f"{height}\n"
            reader.stdin.close()
        assert reader.returncode == 0


def test_blocks_that_the_log_does_not_have_yet_are_read_as_well(tmp_path: Path) -> None:
    network = start_seven(tmp_path)
    with network.chain as chain, followed(chain, tmp_path):
        network.produce(3)
        assert chain.irreversible < chain.head_number - 2
        head = chain.head_number
    with closed_view(tmp_path) as view:
        for number in range(head - 2, head + 1):
            assert "validator_reward" in shown_operations(view, number)


def test_a_block_that_the_log_has_lost_is_told_of(tmp_path: Path) -> None:
    with open_chain(NAME, tmp_path) as chain, followed(chain, tmp_path):
        advance(chain, NAME, STOPS[0])
    number = next(
        block
        for (block, only_virtual), text in recorded_answers(NAME, 900)["get_ops_in_block"].items()
        if '"trx_in_block":0' in text and not only_virtual and block > 10
    )
    (tmp_path / "state" / "block_log").write_bytes(b"")
    with closed_view(tmp_path) as view, pytest.raises(HistoryDamaged, match=f"block {number}"):
        view.operations_of(number)


def test_where_there_is_no_history_the_operator_is_told_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(HistoryDamaged, match="ledgerd history rebuild"):
        EmbeddedHistory.open(tmp_path / "history", tmp_path, HistorySettings())


def test_an_accounts_entries_that_begin_with_a_virtual_one_are_read_from_all_pieces_of_a_block(tmp_path: Path) -> None:
    """What is taken of one piece may be virtual and have no bytes in the log, while the next piece's has."""
    block = block_on(NO_BLOCK, 1, [[3 * place + at + 244 for at in range(2)] for place in range(25)])
    log = BlockLog.open(tmp_path / STATE_FOLDER)
    log.append(1, block.packed)
    settings = HistorySettings()
    with EmbeddedStore(tmp_path / HISTORY_FOLDER, settings, log) as store:
        store.record([told(block), IrreversibleAdvanced(1)])
        history = EmbeddedHistory(store.environment, LogBytes(tmp_path / STATE_FOLDER), settings)
        with history.reading() as view:
            shown = view.operations_of(1)
            for name in NAMES:
                entries = view.range_of(name)
                for first in range(entries.last + 1 if entries else 0):
                    history.forget()
                    found = view.entries_of(name, first, min(first + 9, entries.last if entries else 0))
                    assert set(found) <= set(shown)
    log.close()
