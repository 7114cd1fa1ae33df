"""The projections of a chain follow it: over kills between the two commits, over forks, and where they were lost."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import NoReturn

import lmdb
import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.forks.trunk import PopEmptyChain
from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.ledger.events import BlockApplied, Event
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.codec import codec_of
from ledgerd.projections.custom_protocols import CustomProtocols
from ledgerd.projections.following import follow, leave, projections_of
from ledgerd.projections.kept import FOLDER, KeptProjections
from ledgerd.projections.key_references import KeyReferences
from ledgerd.projections.markets.records import MarketRecords
from ledgerd.projections.projection import Projection
from ledgerd.projections.tables import PROJECTED_TABLES
from ledgerd.projections.tables.market_records import PM_MARKET_META, PM_OPEN_BOOKS, PM_RECORDS_SINCE
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.operations.markets.bets import PmPlaceBet
from ledgerd.protocol.types.assets import tokens
from ledgerd.state import Store
from ledgerd.state.errors import StoreCorrupt, StoreFull
from ledgerd.state.files.disk import DATA_FILE
from ledgerd.state.views.view import View
from tests.chain.crowded_markets import open_markets
from tests.chain.networks import SMALL, VIZ, Network, start_seven
from tests.chain.recorded_chains import LIKE_THE_RECORDING, advance, open_chain
from tests.recorded import recorded_blocks

NAME, FIRST, LAST = "open-main15", 470, 495
"""A chain of many validators: its last blocks may be undone."""
SEEDS = range(int(os.environ.get("PROJECTION_KILLS", "4")))
"""Two hundred are tried before a release."""

Rows = list[list[str]]


class Killed(Exception):
    """The process was killed."""


class Killer(Observer):
    """Kills at one moment of one commit."""

    def __init__(self) -> None:
        self.is_due: Callable[[str], bool] = lambda _moment: False

    def committing(self, _events: Sequence[Event]) -> None:
        self._meet("committing")

    def applied(self, _event: BlockApplied) -> None:
        self._meet("applied")

    def _meet(self, moment: str) -> None:
        if self.is_due(moment):
            raise Killed


def all_of_them() -> list[Projection]:
    return [KeyReferences(), CustomProtocols(), MarketRecords()]


@contextmanager
def followed(folder: Path, projections: Sequence[Projection] = (), killer: Killer | None = None) -> Iterator[Chain]:
    folder.mkdir(exist_ok=True)
    with open_chain(NAME, folder) as chain:
        follow(chain, projections or all_of_them())
        if killer is not None:
            chain.observe(killer)
        yield chain


def view_of(chain: Chain) -> View:
    found = projections_of(chain)
    assert found is not None
    return found


def rows_of(chain: Chain) -> Rows:
    """All that is kept, as it is stored."""
    return [[repr(each) for each in view_of(chain).scan(table)] for table in PROJECTED_TABLES]


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[int, Rows]]:
    """A folder with the chain at the first block, and what a replay keeps at each block from there on."""
    folder: Path = tmp_path_factory.mktemp("straight")
    with followed(folder / "first") as chain:
        advance(chain, NAME, FIRST)
    shutil.copytree(folder / "first", folder / "whole")
    found: dict[int, Rows] = {}
    with followed(folder / "whole") as chain:
        for height in range(FIRST, LAST + 1):
            advance(chain, NAME, height)
            found[height] = rows_of(chain)
    assert all(found[LAST])
    assert found[LAST] != found[FIRST]
    return folder / "first", found


def wander(chain: Chain, random: Random) -> None:
    """Apply some blocks, or undo some, or both in one commit."""
    choice = random.random()
    lowest = max(chain.irreversible, FIRST)
    if choice < 0.2 and chain.head_number > lowest:
        chain.apply_again(random.randint(lowest, chain.head_number - 1))
    elif choice < 0.4 and chain.head_number > lowest:
        with suppress(PopEmptyChain):  # it was irreversible before others above it were undone
            chain.pop_block()
    else:
        blocks = recorded_blocks(NAME)
        for packed in blocks[chain.head_number : min(LAST, chain.head_number + random.randint(1, 6))]:
            chain.push_block(codec_of(Block).decode(packed), LIKE_THE_RECORDING, commit=False).or_raise()
        chain.commit()


@pytest.mark.parametrize("seed", SEEDS)
def test_kills_between_projections_and_state_leave_what_a_replay_keeps(
    straight: tuple[Path, dict[int, Rows]], tmp_path: Path, seed: int
) -> None:
    begun, wanted = straight
    random, folder, kills = Random(seed), tmp_path / "killed", 0  # noqa: S311 - the same walk each time
    shutil.copytree(begun, folder)
    while kills < 5:
        killer = Killer()
        moment = random.choice(("committing", "committing", "applied"))
        left = random.randint(1, 4)

        def is_due(met: str, moment: str = moment) -> bool:
            nonlocal left
            left -= met == moment
            return left < 0

        killer.is_due = is_due
        with pytest.raises(Killed), followed(folder, (), killer) as chain:  # noqa: PT012 - one walk
            assert rows_of(chain) == wanted[chain.head_number]
            while True:
                wander(chain, random)
                assert rows_of(chain) == wanted[chain.head_number]
        kills += 1
    with followed(folder) as chain:
        assert rows_of(chain) == wanted[chain.head_number]
        advance(chain, NAME, LAST)
        assert rows_of(chain) == wanted[LAST]


# -- branches


def node_of(folder: Path) -> Network:
    node = start_seven(folder)
    open_markets(node, 2, 2)
    follow(node.chain, [MarketRecords()])
    return node


def branch(node: Network, stakes: Sequence[int], skipped: int = 0) -> list[Block]:
    """Blocks with a bet each; the first one leaves slots out."""
    blocks = []
    for place, stake in enumerate(stakes):
        node.send(PmPlaceBet(VIZ, 0, 0, -1, tokens(stake), 0, 0, ()))
        blocks += node.produce(skipped=0 if place else skipped)
    return blocks


@pytest.mark.parametrize("moment", ["committing", "applied"])
def test_a_kill_while_the_chain_goes_over_to_another_branch_loses_nothing_of_either(
    tmp_path: Path, moment: str
) -> None:
    node, other = (node_of(tmp_path / name) for name in ("node", "other"))
    left = branch(node, [1_000, 2_000])
    before, head = rows_of(node.chain), node.chain.head_id
    killer = Killer()
    node.chain.observe(killer)
    killer.is_due = lambda met: met == moment
    right = branch(other, [5_000, 6_000, 7_000, 8_000], skipped=1)
    with pytest.raises(Killed):
        node.follow(right)
    node.chain.close()
    with Chain.open(node.folder, node.chain.network, clock=node.clock, space=SMALL) as chain:
        follow(chain, [MarketRecords()])
        if moment == "committing":
            assert chain.head_id == head == left[-1].id
            assert rows_of(chain) == before
        for block in right:
            chain.push_block(block)
        assert chain.head_id == other.chain.head_id
        assert rows_of(chain) == rows_of(other.chain)
    other.chain.close()


def test_projections_whose_first_block_is_undone_begin_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    node = start_seven(tmp_path)
    open_markets(node, 2, 2)
    branch(node, [1_000])
    follow(node.chain, [MarketRecords()])
    head = node.chain.head_number
    assert view_of(node.chain).get(PM_RECORDS_SINCE, 0).block == head + 1

    node.chain.pop_block()

    assert view_of(node.chain).get(PM_RECORDS_SINCE, 0).block == head
    assert "the block behind which they began was undone" in caplog.text
    node.chain.close()


# -- commits


def test_a_commit_that_failed_is_taken_in_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node, other = (node_of(tmp_path / name) for name in ("node", "other"))
    store, commit = node.chain.parts.store, node.chain.parts.store.commit

    def fail() -> None:
        raise StoreFull("no room")

    node.send(PmPlaceBet(VIZ, 0, 0, -1, tokens(1_000), 0, 0, ()))
    block = node.make()
    monkeypatch.setattr(store, "commit", fail)
    with pytest.raises(StoreFull):
        node.chain.push_block(block)
    with pytest.raises(StoreFull):
        node.chain.commit()
    monkeypatch.setattr(store, "commit", commit)
    node.chain.commit()
    other.follow([block])
    assert rows_of(node.chain) == rows_of(other.chain)
    for each in (node, other):
        each.chain.close()


def test_blocks_without_anything_for_projections_are_no_commit_of_theirs(tmp_path: Path) -> None:
    node = node_of(tmp_path)
    (recorder,) = node.chain.observers
    store = recorder.kept.store  # type: ignore[attr-defined]  # the one that `follow` has made
    commits = store.commits
    node.produce(20)
    assert store.commits == commits
    branch(node, [1_000])
    assert store.commits == commits + 1
    node.chain.close()


@pytest.mark.parametrize("damage", [StoreCorrupt, lmdb.CorruptedError])
def test_a_store_that_cannot_be_read_any_more_begins_anew_while_the_node_runs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, damage: type[Exception]
) -> None:
    node = node_of(tmp_path)
    branch(node, [1_000])

    def damaged(*_: object) -> None:
        raise damage("a page is missing")

    with monkeypatch.context() as patch:
        patch.setattr(MarketRecords, "apply", damaged)
        node.produce()
    assert "cannot be read (a page is missing)" in caplog.text
    head = node.chain.head_number
    branch(node, [2_000])
    kept = view_of(node.chain)
    assert kept.get(PM_RECORDS_SINCE, 0).block == head + 1
    assert [each.bets_sum for each in kept.scan(PM_OPEN_BOOKS)] == [3_000]
    node.chain.close()


# -- what is there at the start


def test_damage_that_the_database_meets_while_it_is_opened_has_them_begin_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node_of(tmp_path / "node").chain.close()
    folder = next(tmp_path.rglob(f"{FOLDER}/{DATA_FILE}")).parent.parent
    opened = Store.open

    def meet_it(*_: object, **__: object) -> NoReturn:
        monkeypatch.setattr(Store, "open", opened)
        raise lmdb.CorruptedError("mdb_get: MDB_CORRUPTED: Located page was wrong type")

    monkeypatch.setattr(Store, "open", meet_it)
    with KeptProjections(folder) as kept:
        assert "those that are there cannot be read" in kept.fault


def test_what_is_lost_or_damaged_begins_at_the_head_and_says_so(
    straight: tuple[Path, dict[int, Rows]], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    begun, _ = straight
    spoilt: tuple[tuple[Callable[[Path], object], str], ...] = (
        (shutil.rmtree, "there are none beside this state yet"),
        (lambda folder: (folder / DATA_FILE).write_bytes(b"x" * 8192), "cannot be read"),
    )
    for number, (spoil, reason) in enumerate(spoilt):
        folder = tmp_path / str(number)
        shutil.copytree(begun, folder)
        spoil(folder / STATE_FOLDER / FOLDER)
        caplog.clear()
        with followed(folder) as chain:
            assert view_of(chain).get(PM_RECORDS_SINCE, 0).block == FIRST + 1
            assert view_of(chain).count(PM_MARKET_META) == 0
            assert reason in caplog.text
            assert "`ledgerd markets rebuild`" in caplog.text
            advance(chain, NAME, LAST)


def test_those_of_another_chain_are_cleared(
    straight: tuple[Path, dict[int, Rows]], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    begun, _ = straight
    node = node_of(tmp_path / "node")
    node.produce(3)
    node.chain.close()
    folder = node.folder / STATE_FOLDER / FOLDER
    shutil.rmtree(folder)
    shutil.copytree(begun / STATE_FOLDER / FOLDER, folder)
    with Chain.open(node.folder, node.chain.network, clock=node.clock, space=SMALL) as chain:
        follow(chain, [MarketRecords()])
        assert "another chain" in caplog.text
        assert view_of(chain).get(PM_RECORDS_SINCE, 0).block == chain.head_number + 1
        assert view_of(chain).count(PM_MARKET_META) == 0


def test_those_of_an_older_copy_go_on_with_a_gap_that_is_said(
    straight: tuple[Path, dict[int, Rows]], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    begun, _ = straight
    shutil.copytree(begun, tmp_path / "node")
    with followed(tmp_path / "node") as chain:
        advance(chain, NAME, LAST)
        books = rows_of(chain)[4]
    folder = tmp_path / "node" / STATE_FOLDER / FOLDER
    shutil.rmtree(folder)
    shutil.copytree(begun / STATE_FOLDER / FOLDER, folder)
    caplog.clear()
    with followed(tmp_path / "node") as chain:
        assert view_of(chain).get(PM_RECORDS_SINCE, 0).block == LAST + 1
        assert sorted(each.partition(", ")[2] for each in rows_of(chain)[4]) == sorted(
            each.partition(", ")[2] for each in books
        )
        assert view_of(chain).count(PM_MARKET_META) > 0
        assert "has run without them" in caplog.text


def test_a_projection_that_was_off_begins_again_and_the_others_go_on(
    straight: tuple[Path, dict[int, Rows]], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    begun, wanted = straight
    folder = tmp_path / "node"
    shutil.copytree(begun, folder)
    with followed(folder, [KeyReferences(), CustomProtocols()]) as chain:
        advance(chain, NAME, FIRST + 10)
    with followed(folder) as chain:
        advance(chain, NAME, LAST)
        assert rows_of(chain)[:2] == wanted[LAST][:2]
        assert view_of(chain).get(PM_RECORDS_SINCE, 0).block == FIRST + 11
    assert caplog.text.count("begins after block") == 1
    assert f"(markets) begins after block {FIRST + 10}" in caplog.text


def test_without_projections_nothing_is_written(tmp_path: Path) -> None:
    with open_chain(NAME, tmp_path) as chain:
        leave(chain)
        advance(chain, NAME, 20)
        assert projections_of(chain) is None
    assert not (tmp_path / STATE_FOLDER / FOLDER).exists()
