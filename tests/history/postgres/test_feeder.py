"""What is fed to PostgreSQL is the history of plain lists, whatever happens, in any batches, with restarts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledgerd.history.postgres import feeder as feeders
from ledgerd.history.postgres.feeder import Feeder
from ledgerd.history.postgres.status import PostgresRefused, PostgresUnavailable
from ledgerd.history.settings import HistorySettings
from ledgerd.protocol.types.names import AccountName
from tests.history.model import assert_same
from tests.history.postgres.feeding import CHAIN, fed_view, feed_all, feeding, source_of
from tests.history.test_against_model import PLANS, Teller
from tests.postgres import DIVIDED, TEMPLATE, SharedServer, sql

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("block"), PLANS),
        st.tuples(st.just("undo"), st.integers(1, 4)),
        st.tuples(st.sampled_from(["advance", "commit", "reopen", "feed", "feed", "restart"]), st.integers(0, 5)),
    ),
    min_size=5,
    max_size=50,
)

OPTIONS = st.builds(
    HistorySettings,
    blacklist=st.sampled_from([(), (), ("transfer_operation", "nonsense")]),
    start_block=st.sampled_from([0, 0, 3]),
    account_ranges=st.sampled_from([(), (), (("alice", "alice"), ("bob", "lonely.account"))]),
    keep_accounts=st.sampled_from([True, True, False]),
    skip_virtual=st.sampled_from([False, False, True]),
    keep_blocks=st.booleans(),
)


class Told:
    """A chain that is played, and a feeder that follows it now and then."""

    def __init__(self, teller: Teller, address: str) -> None:
        self.teller = teller
        self.address = address
        self._feeding = self._begun()
        self.feeder = self._feeding.__enter__()

    @contextmanager
    def _begun(self) -> Iterator[Feeder]:
        source = source_of(self.teller.store, self.teller.folder, self.teller.log.read)
        with feeding(self.address, source, self.teller.options) as feeder:
            yield feeder

    def restart(self) -> None:
        self._feeding.__exit__(None, None, None)
        self._feeding = self._begun()
        self.feeder = self._feeding.__enter__()

    def reopen(self) -> None:
        self._feeding.__exit__(None, None, None)
        self.teller.reopen()
        self._feeding = self._begun()
        self.feeder = self._feeding.__enter__()

    def check(self) -> None:
        self.teller.commit()
        feed_all(self.feeder)
        if self.feeder.position is not None:
            with fed_view(self.address) as view:
                assert_same(view, self.teller.model, len(self.teller.trunk), self.feeder.position.first)

    def close(self) -> None:
        self._feeding.__exit__(None, None, None)


@contextmanager
def told(address: str, folder: Path, options: HistorySettings | None = None) -> Iterator[Told]:
    with Teller(folder, options or HistorySettings()) as teller:
        made = Told(teller, address)
        try:
            yield made
        finally:
            made.close()


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, options=OPTIONS, most=st.sampled_from([1, 3, 2_000]), template=st.sampled_from([TEMPLATE, DIVIDED]))
def test_what_is_fed_is_the_history_of_plain_lists(
    postgres_server: SharedServer,
    steps: list[tuple[str, object]],
    options: HistorySettings,
    most: int,
    template: str,
) -> None:
    address = postgres_server.database(template)
    with (
        pytest.MonkeyPatch.context() as patches,
        TemporaryDirectory() as name,
        told(address, Path(name), options) as made,
    ):
        patches.setattr(feeders, "MOST_BLOCKS", most)
        for step, value in steps:
            match step:
                case "feed":
                    made.feeder.step()
                case "restart":
                    made.restart()
                case "reopen":
                    made.reopen()
                case _:
                    getattr(made.teller, step)(value)
        made.check()
    postgres_server.drop(address)


def grow(made: Told, count: int, kept: int = 5) -> None:
    for number in range(count):
        made.teller.block([[number, number + 7], [3 * number]])
        made.teller.advance(kept)
        made.teller.commit()


def test_reversible_blocks_stand_apart_until_they_are_irreversible(postgres: str, tmp_path: Path) -> None:
    with told(postgres, tmp_path) as made:
        grow(made, 20, kept=4)
        made.check()
        assert sql(postgres, "SELECT min(block), max(block) FROM ledger.blocks") == [(1, 16)]
        assert sql(postgres, "SELECT min(block), max(block) FROM ledger.operations_reversible") == [(17, 20)]
        made.teller.undo(3)
        made.teller.block([[5]])
        made.check()
        assert sql(postgres, "SELECT array_agg(block ORDER BY block) FROM ledger.blocks_reversible") == [([17, 18],)]
        made.teller.advance(0)
        made.check()
        assert sql(postgres, "SELECT count(*) FROM ledger.operations_reversible") == [(0,)]


def test_indexes_are_made_after_the_first_load_alone(postgres: str, tmp_path: Path) -> None:
    indexes = "SELECT count(*) FROM pg_indexes WHERE schemaname = 'ledger' AND tablename = 'operations'"
    with told(postgres, tmp_path) as made:
        grow(made, 10)
        assert made.feeder.step()
        assert made.feeder.step()
        assert sql(postgres, indexes) == [(0,)]
        loading = "is being loaded, and has reached block 5"
        with fed_view(postgres) as view, pytest.raises(PostgresUnavailable, match=loading):
            _ = view.head_number
        with fed_view(postgres) as view, pytest.raises(PostgresUnavailable, match=loading):
            view.page_of(AccountName("alice"), None, 10)
        feed_all(made.feeder)
        assert sql(postgres, indexes) != [(0,)]


def test_only_one_feeds_a_database(postgres: str, tmp_path: Path) -> None:
    with told(postgres, tmp_path) as made:
        grow(made, 3)
        with pytest.raises(PostgresUnavailable, match=r"is being fed by another process \(user ledgerd, process \d+"):
            Told(made.teller, postgres)


def test_a_database_of_another_chain_is_refused(postgres: str, tmp_path: Path) -> None:
    with told(postgres, tmp_path) as made:
        grow(made, 3)
        made.check()
    sql(postgres, "UPDATE ledger.feed SET chain_id = '\\x0102'")
    with pytest.raises(PostgresRefused, match=r"the history of another chain, 0102\.\.\."), told(postgres, tmp_path):
        pass


def test_another_branch_below_what_was_irreversible_is_refused(postgres: str, tmp_path: Path) -> None:
    with told(postgres, tmp_path / "one") as made:
        grow(made, 8, kept=2)
        made.check()
    with told(postgres, tmp_path / "other") as made:
        made.teller.salt = 500
        grow(made, 12, kept=2)
        with pytest.raises(PostgresRefused, match="the database has another block 6 than this node"):
            feed_all(made.feeder)


def test_a_position_that_moved_by_itself_stops_the_feed(postgres: str, tmp_path: Path) -> None:
    with told(postgres, tmp_path) as made:
        grow(made, 8)
        feed_all(made.feeder)
        grow(made, 1)
        sql(postgres, "UPDATE ledger.feed SET head = head + 1")
        with pytest.raises(PostgresUnavailable, match="was fed by another process"):
            feed_all(made.feeder)
        assert sql(postgres, "SELECT max(block) FROM ledger.blocks_reversible") == [(8,)]


def test_a_node_that_goes_back_over_its_blocks_is_waited_for(postgres: str, tmp_path: Path) -> None:
    """After a kill it applies again what its history had already told, and was irreversible."""
    with told(postgres, tmp_path / "ahead") as made:
        grow(made, 10, kept=1)
        made.check()
        fed = made.feeder.position
    with told(postgres, tmp_path / "behind") as made:
        grow(made, 5, kept=1)
        assert not made.feeder.step()
        assert made.feeder.position == fed
        grow(made, 0)


def test_the_chain_is_named_by_its_whole_id(postgres: str, tmp_path: Path) -> None:
    with told(postgres, tmp_path) as made:
        grow(made, 2)
        made.check()
    assert sql(postgres, "SELECT chain_id, first, head FROM ledger.feed") == [(CHAIN, 1, 2)]
