"""`get_balances_at` from PostgreSQL: what accounts had at past blocks is what `get_accounts` said there.

A usual run takes one recorded chain; `EVERY_CHAIN=1 scripts/test tests/history/postgres/test_past_balances.py` takes
both, and looks at twenty heights of each.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.codec.json.text import Json
from ledgerd.history.columns.source import HistorySource
from ledgerd.history.postgres.reader import PostgresHistory
from ledgerd.history.settings import HistorySettings
from tests.chain.networks import start_seven
from tests.chain.recorded_chains import open_chain
from tests.history.embedded.test_following import branch
from tests.history.histories import followed
from tests.history.postgres.feeding import feed_all, feeding
from tests.history.postgres.test_balances import NAME, feed, feed_within, recording, replay
from tests.history.test_past_accounts import CHAINS
from tests.node.datadir.test_past_state import LOOKED_AT
from tests.recorded import ANSWERED
from tests.rpc.api.past_answers import NOBODY, accounts_at, accounts_of, answer, balances_in, dispatcher_of
from tests.rpc.api.serving import copy_followed


def fed(address: str, name: str, folder: Path) -> PostgresHistory:
    copy_followed(name, ANSWERED[name], folder)
    source = HistorySource(folder, HistorySettings())
    with feeding(address, source) as feeder:
        feed_all(feeder)
    source.close()
    return PostgresHistory(address, HistorySettings())


@pytest.mark.parametrize("name", CHAINS)
def test_balances_at_many_heights_are_those_of_the_replayed_chain(name: str, postgres: str, tmp_path: Path) -> None:
    history = fed(postgres, name, tmp_path / "fed")
    dispatcher, looked_at = dispatcher_of(history), 0
    (tmp_path / "replayed").mkdir()
    for height, accounts in accounts_at(name, tmp_path / "replayed", LOOKED_AT[name]):
        expected = balances_in(accounts)
        names = list(expected)
        for start in range(0, len(names), 100):
            asked: list[Json] = [*names[start : start + 100]]
            found = answer(dispatcher, "get_balances_at", height, asked)
            assert found == [expected[str(each)] for each in asked], height
        looked_at += 1
    assert looked_at == len(LOOKED_AT[name])
    head = ANSWERED[name]
    refused = answer(dispatcher, "get_balances_at", head + 1, [NOBODY])
    assert f"block {head + 1} is not there yet: the last one that is recorded is block {head}" in refused
    history.close()


def test_before_the_first_rows_nothing_is_made_up(postgres: str, tmp_path: Path) -> None:
    with open_chain(NAME, tmp_path) as chain:
        replay(chain, 1, 100)
    with open_chain(NAME, tmp_path) as chain, recording(chain, tmp_path):
        begun = balances_in(accounts_of(chain.state))
        replay(chain, 101, 120)
    feed(postgres, tmp_path)
    history = PostgresHistory(postgres, HistorySettings())
    dispatcher = dispatcher_of(history)
    assert answer(dispatcher, "get_balances_at", 100, ["viz", "nobody"]) == [begun["viz"], begun["nobody"]]
    refused = answer(dispatcher, "get_balances_at", 99, ["viz"])
    assert "block 99: balances are known from block 100 on" in refused
    history.close()


def test_without_balances_that_is_said(postgres: str, tmp_path: Path) -> None:
    with open_chain(NAME, tmp_path) as chain, followed(chain, tmp_path):
        replay(chain, 1, 60)
    feed(postgres, tmp_path)
    history = PostgresHistory(postgres, HistorySettings())
    said = answer(dispatcher_of(history), "get_balances_at", 60, ["viz"])
    assert "balances of past blocks are not kept here" in said
    history.close()


def test_balances_of_a_branch_that_was_left_are_gone(postgres: str, tmp_path: Path) -> None:
    other = start_seven(tmp_path / "other")
    node = start_seven(tmp_path / "node")
    history = PostgresHistory(postgres, HistorySettings())
    dispatcher = dispatcher_of(history)
    with other.chain, node.chain as chain, recording(chain, node.folder):
        for each in other.produce(40):
            node.chain.push_block(each).or_raise()
        branch(node, 2, 0, "short")
        feed_within(postgres, node.folder)
        for _ in range(2):
            with chain.parts.store.committed() as state:
                expected = balances_in(accounts_of(state))
            found = answer(dispatcher, "get_balances_at", chain.head_number, list(expected))
            assert found == list(expected.values())
            if chain.head_id != other.chain.head_id:
                node.follow(branch(other, 4, 1, "long"))
                feed_within(postgres, node.folder)
        assert chain.head_id == other.chain.head_id
    history.close()
