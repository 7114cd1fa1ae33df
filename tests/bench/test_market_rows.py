"""The large state of benches in a small form: `ledgerd check` accepts it, and the chain goes on from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest

from bench.market_plan import Plan, Scale, Stage
from bench.market_rows import CALM, SECONDS_BETWEEN, write_state
from ledgerd.chain.offline.invariants import check
from ledgerd.cli import main
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.operations.markets.virtual_markets import (
    PmAutoPayout,
    PmBatchSettle,
    PmCommitForfeit,
    PmEarlyExitClaimPaid,
    PmOracleMissedPenalty,
)
from ledgerd.state.objects.markets.bets import PM_BETS, QUEUED
from ledgerd.state.objects.markets.commitments import PM_COMMITS
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_POOLS
from ledgerd.state.objects.markets.leverage import PM_LEVERAGE_POSITIONS
from ledgerd.state.objects.markets.markets import ACTIVE, MARKET_BY_STATUS, PM_MARKETS
from ledgerd.state.objects.markets.oracles import PM_ORACLES
from tests.chain.networks import Network

SMALL = Scale(markets=300, bets=6_000, accounts=200)
BLOCKS = (CALM + (SMALL.due + 2) * SECONDS_BETWEEN) // BLOCK_INTERVAL


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("markets") / "data"
    write_state(made, SMALL)
    return made


@pytest.fixture
def network(folder: Path, tmp_path: Path) -> Iterator[Network]:
    network = Network(copytree(folder, tmp_path / "data"))
    yield network
    network.chain.close()


def test_the_check_accepts_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--data-dir", str(folder), "--chain", "testnet"]) == 0
    assert "checks hold" in capsys.readouterr().out


def test_there_is_as_much_of_everything_as_was_asked_for(network: Network) -> None:
    state = network.chain.state
    opened = sum(1 for _ in state.scan(MARKET_BY_STATUS, lower=(ACTIVE,), upper=(ACTIVE,)))
    forgotten = sum(kind.stage is Stage.TO_BE_REFUNDED for kind in Plan(SMALL).kinds)

    assert opened == SMALL.markets + forgotten
    assert state.count(PM_BETS) == SMALL.bets
    assert state.count(PM_ORACLES) == SMALL.oracles
    assert state.count(PM_COMMITS) == SMALL.commits
    assert state.count(PM_LEVERAGE_POSITIONS) == SMALL.positions
    assert state.get(PM_LAZY_POOLS, 0).allocated_balance > 0


def test_the_chain_goes_on_while_markets_end(network: Network) -> None:
    seen: Counter[str] = Counter()
    for number in range(BLOCKS):
        network.produce()
        seen.update(type(each.operation).__name__ for each in network.chain.parts.ledger.operations)
        if number % 40 == 0:
            assert check(network.chain) == []

    assert check(network.chain) == []
    kinds = Counter(kind.stage for kind in Plan(SMALL).kinds)
    assert seen[PmAutoPayout.__name__] == kinds[Stage.TO_BE_SETTLED]
    assert seen[PmOracleMissedPenalty.__name__] == kinds[Stage.TO_BE_REFUNDED]
    assert seen[PmCommitForfeit.__name__] > 0
    assert seen[PmBatchSettle.__name__] > 0
    assert seen[PmEarlyExitClaimPaid.__name__] > 0
    state = network.chain.state
    assert all(bet.status != QUEUED for bet in state.scan(PM_BETS))
    assert state.count(PM_MARKETS) == SMALL.markets + SMALL.due - kinds[Stage.TO_BE_COLLECTED]


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "note").touch()

    with pytest.raises(FileExistsError, match="choose an empty directory"):
        write_state(tmp_path, SMALL)

    assert [path.name for path in tmp_path.iterdir()] == ["note"]
