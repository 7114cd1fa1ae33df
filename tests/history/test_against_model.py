"""Any sequence of events, in any batches, with restarts in between, gives the history of plain lists."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.chain.ledger.events import BlocksUndone, Event, IrreversibleAdvanced
from ledgerd.chain.log.block_log import BlockLog
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.settings import ALL_BLOCKS, HistorySettings
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.history.histories import HISTORY_FOLDER, SMALL, closed_view, view_of
from tests.history.made_blocks import Plan, block_on, told
from tests.history.model import Model, assert_same

PLANS = st.lists(st.lists(st.integers(0, 200), min_size=1, max_size=3), max_size=4)

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("block"), PLANS),
        st.tuples(st.just("undo"), st.integers(1, 4)),
        st.tuples(st.sampled_from(["advance", "commit", "reopen"]), st.integers(0, 5)),
    ),
    min_size=5,
    max_size=60,
)

OPTIONS = st.builds(
    HistorySettings,
    blacklist=st.sampled_from([(), (), ("transfer_operation", "nonsense")]),
    start_block=st.sampled_from([0, 0, 3]),
    count_blocks=st.sampled_from([ALL_BLOCKS, 0, 4, 10]),
    purge_interval=st.sampled_from([1, 3, 4800]),
    account_ranges=st.sampled_from([(), (), (("alice", "alice"), ("bob", "lonely.account"))]),
    keep_accounts=st.sampled_from([True, True, False]),
    skip_virtual=st.sampled_from([False, False, True]),
    keep_blocks=st.booleans(),
)


class Teller:
    """Plays a chain: sends events to a store in batches, and to the model at once."""

    def __init__(self, folder: Path, options: HistorySettings) -> None:
        self.folder = folder
        self.options = options
        self.model = Model(options)
        self.trunk: list[Block] = []
        self.irreversible = 0
        self.happened: list[Event] = []
        self.salt = 0
        self.log = BlockLog.open(folder / STATE_FOLDER)
        self.store = self._opened()

    def _opened(self) -> EmbeddedStore:
        return EmbeddedStore(self.folder / HISTORY_FOLDER, self.options, self.log, SMALL)

    def _tell(self, event: Event) -> None:
        self.happened.append(event)
        self.model.take(event)

    def block(self, plan: Plan) -> None:
        self.salt += 1
        previous = self.trunk[-1].id if self.trunk else NO_BLOCK
        self.trunk.append(block_on(previous, len(self.trunk) + 1, plan, self.salt))
        self._tell(told(self.trunk[-1]))

    def undo(self, count: int) -> None:
        count = min(count, len(self.trunk) - self.irreversible)
        if count > 0:
            del self.trunk[-count:]
            head = self.trunk[-1].id if self.trunk else NO_BLOCK
            self._tell(BlocksUndone(len(self.trunk), head))

    def advance(self, kept: int) -> None:
        """All blocks but the newest few become irreversible."""
        number = len(self.trunk) - kept
        if number > self.irreversible:
            for block in self.trunk[self.irreversible : number]:
                self.log.append(block.number, block.packed)
            self.irreversible = number
            self._tell(IrreversibleAdvanced(number))

    def commit(self, _: int = 0) -> None:
        if self.happened:
            self.log.sync()
            self.store.record(self.happened)
            self.happened = []

    def reopen(self, _: int = 0) -> None:
        self.commit()
        self.store.close()
        self.store = self._opened()
        self.model.purged_at = 0

    def change_options(self, options: HistorySettings) -> None:
        """As after a restart with another configuration."""
        self.options = self.model.settings = options
        self.reopen()

    def check(self) -> None:
        """The history, as it was last committed, is the model."""
        self.commit()
        with view_of(self.store, self.folder) as view:
            assert_same(view, self.model, len(self.trunk))

    def close(self) -> None:
        self.store.close()
        self.log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@settings(max_examples=120)
@given(steps=STEPS, options=OPTIONS)
def test_a_history_is_that_of_plain_lists(steps: list[tuple[str, object]], options: HistorySettings) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        with Teller(folder, options) as teller:
            for commit, value in steps:
                getattr(teller, commit)(value)
                if commit in {"commit", "reopen"}:
                    teller.check()
            teller.commit()
        with closed_view(folder) as view:
            assert_same(view, teller.model, len(teller.trunk))


@settings(max_examples=30)
@given(plans=st.lists(PLANS, min_size=1, max_size=30), kept=st.integers(0, 30), told_again=st.integers(0, 30))
def test_a_block_recorded_twice_counts_once(plans: list[Plan], kept: int, told_again: int) -> None:
    with TemporaryDirectory() as name, Teller(Path(name), HistorySettings()) as teller:
        for plan in plans:
            teller.block(plan)
        teller.advance(kept)
        events = list(teller.happened)
        teller.commit()
        teller.store.record(events[-told_again:])
        teller.check()


def test_a_block_of_many_operations_is_read_like_any_other(tmp_path: Path) -> None:
    with Teller(tmp_path, HistorySettings()) as teller:
        teller.block([[number, number + 1] for number in range(150)])
        teller.check()
        with view_of(teller.store, tmp_path) as view:
            assert len(view.operations_of(1)) > 300
        teller.undo(1)
        teller.block([[1]])
        teller.check()


def test_an_account_keeps_its_order_through_many_entries(tmp_path: Path) -> None:
    with Teller(tmp_path, HistorySettings(count_blocks=40, purge_interval=7)) as teller:
        for number in range(200):
            teller.block([[number] * 3, [35] * 5])
            teller.advance(5)
            if number % 9 == 0:
                teller.commit()
        teller.check()
        teller.undo(4)
        teller.check()


def test_a_limit_that_is_lowered_is_reached_an_interval_at_a_time(tmp_path: Path) -> None:
    """The first blocks are in no account's history, so that of the accounts is purged further."""
    blacklist = ("validator_reward_operation",)
    with Teller(tmp_path, HistorySettings(blacklist=blacklist)) as teller:
        for number in range(40):
            teller.block([[number]] if number > 3 else [])
        teller.change_options(HistorySettings(blacklist=blacklist, count_blocks=2, purge_interval=5))
        for number in range(40, 60):
            teller.block([[number]])
            teller.check()
        assert min(number for number, operations in teller.model.blocks.items() if operations) == 25
