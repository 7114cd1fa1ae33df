"""`get_accounts_at` and `get_balances_at` from the journal say of past blocks what `get_accounts` said when they were
the head, byte for byte: through restarts, forks, kills, and a rebuild.

A usual run takes one recorded chain; `EVERY_CHAIN=1 scripts/test tests/history/test_past_accounts.py` takes both, and
looks at twenty heights of each.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.histories import History
from ledgerd.codec.json.text import Json
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.embedded.following import open_history
from ledgerd.history.embedded.log_bytes import LogBytes
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.embedded.rebuild import rebuild
from ledgerd.history.settings import HistorySettings
from ledgerd.history.store import journal as journal_module
from tests.chain.networks import start_seven
from tests.chain.observing import observe
from tests.chain.recorded_chains import advance, open_chain
from tests.history.embedded.test_following import branch
from tests.history.histories import HISTORY_FOLDER, SMALL
from tests.node.datadir.test_past_state import HEIGHTS, LOOKED_AT
from tests.recorded import ANSWERED
from tests.rpc.api.past_answers import Accounts, accounts_at, accounts_of, answer_text, balances_in, dispatcher_of

SETTINGS = HistorySettings(journal="accounts")
WITH_BALANCES = HistorySettings(journal="accounts", balances=True)
CHAINS = tuple(HEIGHTS) if "EVERY_CHAIN" in os.environ else ("open-pm",)


@contextmanager
def recording(chain: Chain, folder: Path, settings: HistorySettings = SETTINGS) -> Iterator[EmbeddedStore]:
    """A history with a journal beside a chain, as in a node."""
    with open_history(chain, folder / HISTORY_FOLDER, settings, SMALL) as store:
        yield store


def read(store: EmbeddedStore, folder: Path) -> EmbeddedHistory:
    """The history for the APIs, in the process that writes it."""
    return EmbeddedHistory(store.environment, LogBytes(folder / STATE_FOLDER), SETTINGS)


def assert_accounts(history: History, height: int, accounts: Accounts) -> None:
    """Every account, and one that is not there, at a height."""
    dispatcher = dispatcher_of(history)
    balances = balances_in(accounts)
    names = list(balances)
    for start in range(0, len(names), 100):
        asked: list[Json] = [*names[start : start + 100]]
        texts = [accounts[str(each)] for each in asked if each in accounts]
        assert answer_text(dispatcher, "get_accounts_at", height, asked) == f"[{','.join(texts)}]", height
        found = answer_text(dispatcher, "get_balances_at", height, asked)
        assert found == _compact([balances[str(each)] for each in asked]), height


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def refused(history: History, height: int) -> str:
    return answer_text(dispatcher_of(history), "get_accounts_at", height, ["viz"])


@pytest.mark.parametrize("name", CHAINS)
def test_accounts_at_many_heights_are_those_of_the_replayed_chain(name: str, tmp_path: Path) -> None:
    folder, replayed = tmp_path / "node", tmp_path / "replayed"
    for each in (folder, replayed):
        each.mkdir()
    begins = 15
    with open_chain(name, folder) as chain:
        advance(chain, name, begins)
    middle = HEIGHTS[name][10]
    with open_chain(name, folder) as chain, recording(chain, folder):
        advance(chain, name, middle)
    with open_chain(name, folder) as chain, recording(chain, folder) as store:
        advance(chain, name, ANSWERED[name])
        history = read(store, folder)
        for height, accounts in accounts_at(name, replayed, LOOKED_AT[name]):
            if height < begins:
                said = f"block {height}: accounts are known from block {begins} on"
                assert said in refused(history, height)
            else:
                assert_accounts(history, height, accounts)
        head = ANSWERED[name]
        said = f"block {head + 1} is not there yet: the last one that is recorded is block {head}"
        assert said in refused(history, head + 1)
        assert list(history.faults(chain.packed_at)) == []


def test_a_rebuild_knows_accounts_from_the_first_block_on(tmp_path: Path) -> None:
    folder, replayed = tmp_path / "node", tmp_path / "replayed"
    for each in (folder, replayed):
        each.mkdir()
    with open_chain("open-2", folder) as chain:
        advance(chain, "open-2", 300)
        rebuild(chain, folder, SETTINGS, space=SMALL)
        with recording(chain, folder) as store:
            history = read(store, folder)
            for height, accounts in accounts_at("open-2", replayed, (1, 2, 77, 200, 299, 300)):
                assert_accounts(history, height, accounts)


def test_a_fork_takes_accounts_back_exactly(tmp_path: Path) -> None:
    other, node = start_seven(tmp_path / "other"), start_seven(tmp_path / "node")
    with other.chain, node.chain as chain, recording(chain, node.folder) as store:
        history, known = read(store, node.folder), dict[int, Accounts]()

        def look(*_: object) -> None:
            with chain.parts.store.committed() as state:
                known[chain.head_number] = accounts_of(state)

        observe(chain, look)
        look()
        for each in other.produce(12):
            node.chain.push_block(each).or_raise()
        common = chain.head_number
        left = branch(node, 2, 0, "short")
        assert_accounts(history, chain.head_number, known[chain.head_number])
        for number in range(common + 1, common + len(left) + 1):
            del known[number]
        node.follow(branch(other, 4, 1, "long"))
        assert chain.head_id == other.chain.head_id
        with other.chain.parts.store.committed() as state:
            assert known[chain.head_number] == accounts_of(state)
        look()
        for number, accounts in known.items():
            if number <= common or number == chain.head_number:
                assert_accounts(history, number, accounts)


def test_what_was_not_recorded_is_never_answered(tmp_path: Path) -> None:
    """The option was off for a while: what accounts were before, and between, is not known any more."""
    with (
        open_chain("open-2", tmp_path) as chain,
        recording(chain, tmp_path, WITH_BALANCES),
    ):
        advance(chain, "open-2", 100)
    with open_chain("open-2", tmp_path) as chain, recording(chain, tmp_path, HistorySettings()) as store:
        advance(chain, "open-2", 150)
        assert (store.accounts_begin, store.balances_begin) == (None, None)
        assert "accounts of past blocks are not kept here" in refused(read(store, tmp_path), 100)
    with (
        open_chain("open-2", tmp_path) as chain,
        recording(chain, tmp_path, WITH_BALANCES) as store,
    ):
        assert (store.accounts_begin, store.balances_begin) == (150, 150)
        advance(chain, "open-2", 160)
        history = read(store, tmp_path)
        assert "accounts are known from block 150 on" in refused(history, 149)
        assert_accounts(history, 160, accounts_of(chain.state))


def test_images_of_another_layout_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_chain("open-2", tmp_path) as chain, recording(chain, tmp_path):
        advance(chain, "open-2", 50)
    monkeypatch.setattr(journal_module, "IMAGE_LAYOUT", b"of a later version")
    with open_chain("open-2", tmp_path) as chain, recording(chain, tmp_path) as store:
        assert store.accounts_begin == 50
        assert "accounts are known from block 50 on" in refused(read(store, tmp_path), 49)


def test_old_images_go_with_the_history(tmp_path: Path) -> None:
    folder, replayed = tmp_path / "node", tmp_path / "replayed"
    for each in (folder, replayed):
        each.mkdir()
    settings = HistorySettings(journal="accounts", count_blocks=100, purge_interval=20)
    with open_chain("open-2", folder) as chain, recording(chain, folder, settings) as store:
        advance(chain, "open-2", 400)
        begins, history = store.accounts_begin, read(store, folder)
        assert begins is not None
        assert 200 < begins <= 300
        assert f"accounts are known from block {begins} on" in refused(history, begins - 1)
        for height, accounts in accounts_at("open-2", replayed, (begins, begins + 1, 350, 400)):
            assert_accounts(history, height, accounts)
        assert list(history.faults(chain.packed_at)) == []
