"""Whatever handlers do to rows, and however the chain forks: the tables are those of a clean run."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as some

from ledgerd.app.declaring.steps import FedBlock
from ledgerd.app.errors import HandlerFailed
from ledgerd.app.tables.opening import open_tables, remove_tables
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from tests.app.random_applications import CHANGES, STATEMENTS, block_behind, content, make_application
from tests.postgres import SharedServer, postgres_server

__all__ = ["postgres_server"]

QUICK_PHASES = [phase for phase in Phase if phase is not Phase.shrink]  # a minute, and more under load
FAILS = [(len(STATEMENTS), ())]

EVENTS = some.lists(
    some.one_of(
        some.tuples(some.just("block"), CHANGES),
        some.tuples(some.just("block"), CHANGES),
        some.tuples(some.just("fork"), some.integers(1, 4), some.lists(CHANGES, min_size=1, max_size=5)),
        some.tuples(some.just("failing fork"), some.integers(1, 3), CHANGES),
        some.tuples(some.just("failing"), CHANGES),
        some.tuples(some.just("restart")),
        some.tuples(some.just("irreversible"), some.integers(0, 3)),
    ),
    min_size=1,
    max_size=14,
)


class Played:
    """A chain as an application has seen it."""

    def __init__(self, address: str) -> None:
        self.address, self.application = address, make_application()
        self.branch: list[FedBlock] = []
        self.irreversible = 0
        self.salt = 0

    @property
    def tip(self) -> BlockId:
        return self.branch[-1].id if self.branch else NO_BLOCK

    def play(self, events: Any) -> None:
        while events:
            with open_tables(self.application, self.address) as tables:
                while events:
                    kind, *values = events.pop(0)
                    if kind == "restart":
                        break
                    self._play(tables, kind, *values)

    def _play(self, tables: Any, kind: str, *values: Any) -> None:
        self.salt += 1
        if kind == "irreversible":
            self.irreversible = max(self.irreversible, len(self.branch) - values[0])
        elif kind == "block":
            block = block_behind(self.tip, values[0], self.salt)
            with suppress(HandlerFailed):  # two rows of one key, for example
                tables.advance([block], self.irreversible)
                self.branch.append(block)
        elif kind == "failing":
            with pytest.raises(HandlerFailed, match=f"change fails at block {len(self.branch) + 1}, operation custom"):
                tables.advance([block_behind(self.tip, [*values[0], *FAILS])], self.irreversible)
        else:
            depth = min(values[0], len(self.branch) - max(self._final(tables), self.irreversible))
            kept, gone = self.branch[: len(self.branch) - depth], self.branch[len(self.branch) - depth :]
            undone = [each.id for each in reversed(gone)]
            before = kept[-1].id if kept else NO_BLOCK
            if kind == "failing fork":
                with pytest.raises(HandlerFailed):
                    tables.advance([block_behind(before, [*values[1], *FAILS])], self.irreversible, undone)
                return
            new: list[FedBlock] = []
            for changes in values[1]:
                new.append(block_behind(new[-1].id if new else before, changes, self.salt))
            with suppress(HandlerFailed):
                tables.advance(new, self.irreversible, undone)
            applied = {each.id for each in tables.applied}
            if new and new[0].id in applied:
                self.branch = [*kept, *(each for each in new if each.id in applied)]

    @staticmethod
    def _final(tables: Any) -> int:
        return next((each.number for each in tables.applied if not each.can_undo), 0)


def compare(played: Played, clean: str) -> None:
    """Against the same blocks, applied once, one after the other, and without a journal where that is possible."""
    found = content(played.address, played.application.tables)
    with open_tables(played.application, clean) as tables:
        settled = tables.applied[0].settled if tables.applied else 0
        assert settled == 0
        for place, block in enumerate(played.branch):
            is_last = place == len(played.branch) - 1
            tables.advance([block], played.irreversible if is_last or block.number <= played.irreversible else 0)
    expected = content(clean, played.application.tables)
    for each in (found, expected):
        del each["_ledgerd_blocks"]
        del each["settled"]  # told of with the next block alone
    assert found == expected


@settings(deadline=None, max_examples=int(os.environ.get("APPLICATION_RUNS", "30")))
@given(EVENTS)
def test_forks_failures_and_restarts_leave_the_tables_of_a_clean_run(events: Any) -> None:
    with TemporaryDirectory() as folder:
        played = Played(str(Path(folder) / "played.sqlite"))
        played.play(list(events))
        compare(played, str(Path(folder) / "clean.sqlite"))


def test_the_same_in_postgres(postgres_server: SharedServer) -> None:
    addresses = [postgres_server.database("template0") for _ in range(2)]
    played_in, clean = addresses

    @settings(deadline=None, max_examples=int(os.environ.get("APPLICATION_RUNS", "6")), phases=QUICK_PHASES)
    @given(EVENTS)
    def play(events: Any) -> None:
        played = Played(played_in)
        for address in addresses:
            remove_tables(played.application, address)
        played.play(list(events))
        compare(played, clean)

    play()
    for address in addresses:
        postgres_server.drop(address)


def test_what_is_done_about_irreversible_blocks_is_undone_with_the_block_at_which_it_was_done(tmp_path: Path) -> None:
    """Also where the block after it has failed in the same transaction."""
    application, address = make_application(), str(tmp_path / "a.sqlite")
    first = block_behind(NO_BLOCK, [])
    second = block_behind(first.id, [])
    failing = block_behind(second.id, FAILS)
    with open_tables(application, address) as tables:
        tables.advance([first], 0)
        before = content(address, application.tables)
        with pytest.raises(HandlerFailed):
            tables.advance([second, failing], 1)
        assert content(address, application.tables)["settled"] == [(("int", "1"),)]
        tables.undo_reversible()
    assert content(address, application.tables)["settled"] == before["settled"] == []


def test_what_was_irreversible_once_stays_so_over_a_fork_whatever_a_node_says_then(tmp_path: Path) -> None:
    application, address = make_application(), str(tmp_path / "a.sqlite")
    first = block_behind(NO_BLOCK, [])
    second = block_behind(first.id, [])
    with open_tables(application, address) as tables:
        tables.advance([first, second], 1)
        tables.advance([block_behind(first.id, [], 1)], 0, [second.id])
    assert content(address, application.tables)["settled"] == [(("int", "1"),)]
