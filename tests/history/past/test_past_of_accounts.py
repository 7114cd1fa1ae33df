"""A history that was extended into the past has the accounts of all of it, where the node keeps a journal."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.errors import PastRefused
from ledgerd.history.past import recording
from ledgerd.history.settings import HistorySettings
from tests.chain.recorded_chains import advance
from tests.history.histories import HISTORY_FOLDER
from tests.history.past.pasts import born_of_snapshot, node_of, past_of, taken
from tests.history.test_past_accounts import assert_accounts
from tests.rpc.api.past_answers import accounts_at

NAME, SNAPSHOT, BEGINS, LAST = "open-pm2", 200, 300, 463
JOURNAL = HistorySettings(journal="accounts")


def test_the_accounts_of_the_past_are_recorded_and_those_of_the_node_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "POLL_SECONDS", 0.0)
    folder, replayed = tmp_path / "node", tmp_path / "replayed"
    replayed.mkdir()
    born_of_snapshot(folder, NAME, SNAPSHOT, BEGINS)
    with (
        pytest.raises(PastRefused, match="start the node with state-journal first"),
        past_of(folder, NAME, JOURNAL) as past,
    ):
        past.run()
    with node_of(folder, NAME, JOURNAL) as (chain, store):
        assert store.accounts_begin == BEGINS
        advance(chain, NAME, LAST)
    with past_of(folder, NAME, JOURNAL) as past:
        assert not past.run(), "no node runs"
    assert taken(folder, NAME, JOURNAL)
    with EmbeddedHistory.open(folder / HISTORY_FOLDER, folder / STATE_FOLDER, JOURNAL) as history:
        for height, accounts in accounts_at(NAME, replayed, (1, 40, SNAPSHOT, BEGINS, BEGINS + 1, 400, LAST)):
            assert_accounts(history, height, accounts)
