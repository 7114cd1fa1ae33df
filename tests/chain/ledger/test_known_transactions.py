"""The transactions that may not be included again, against a plain model, through undos, commits and restarts."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledgerd.chain.ledger import known_transactions
from ledgerd.chain.ledger.known_transactions import KnownTransactions
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.state import Store
from ledgerd.state.objects.transactions import KNOWN_TRANSACTIONS

LIFE = 4
"""Blocks for which a transaction may wait, here."""

Step = tuple[str, list[int]]

STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["block", "irreversible"]), st.lists(st.integers(1, LIFE), max_size=3)),
        st.tuples(st.sampled_from(["undo", "commit", "restart"]), st.just([])),
    ),
    max_size=40,
)


def transaction(number: int, expiration: int) -> Transaction:
    return Transaction(number, 0, expiration, (), (), ())


class Blocks:
    """A store of blocks that remember transactions, one unit of time apart, with what each state should know."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sent: list[Transaction] = []
        self.states: list[frozenset[int]] = [frozenset()]
        self.open()

    def open(self) -> None:
        self.store = Store.open(self.folder, (KNOWN_TRANSACTIONS,))
        self.known = KnownTransactions(self.store)

    @property
    def head(self) -> int:
        return len(self.states) - 1

    def block(self, lives: list[int]) -> None:
        numbers = []
        with self.store.begin() as session:
            for life in lives:
                numbers.append(len(self.sent))
                self.sent.append(transaction(len(self.sent), self.head + life))
                self.known.add(self.sent[-1])
            now = self.head + 1
            self.known.forget(now)
            session.push()
        living = {each for each in (*self.states[-1], *numbers) if self.sent[each].expiration >= now}
        self.states.append(frozenset(living))

    def undo(self, _: list[int]) -> None:
        if self.store.undoable:
            self.store.undo()
            self.states.pop()

    def irreversible(self, above: list[int]) -> None:
        self.store.irreversible(self.head - len(above))

    def commit(self, _: list[int]) -> None:
        self.store.commit()

    def restart(self, _: list[int]) -> None:
        self.store.commit()
        self.store.close()
        self.open()

    def found(self) -> set[int]:
        known = [self.known.find(each.id) for each in self.sent]
        return {number for number, each in enumerate(known) if each is not None and each.expiration >= self.head}


SENT: Step = ("block", [LIFE])
BLOCK: Step = ("block", [])
UNDO: Step = ("undo", [])
IRREVERSIBLE: Step = ("irreversible", [])
RESTART: Step = ("restart", [])
SENT_LATE = [SENT, IRREVERSIBLE, BLOCK, IRREVERSIBLE]


@given(STEPS)
@example([SENT, *[BLOCK] * 6, RESTART, *[UNDO] * 5]).via("an undo gives back what was removed before the start")
@example([("block", [1]), IRREVERSIBLE, BLOCK, IRREVERSIBLE, *SENT_LATE * 2]).via(
    "what is irreversible has not expired yet"
)
@example([SENT, *[BLOCK] * 12, *[UNDO] * 10]).via("one goes back further than a transaction may wait")
def test_each_transaction_is_found_until_it_expires(steps: list[Step]) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(known_transactions, "LIFE", LIFE)
        patch.setattr(known_transactions, "MAX_TIME_UNTIL_EXPIRATION", LIFE)
        blocks = Blocks(Path(folder))
        for step, lives in steps:
            getattr(blocks, step)(lives)
            assert blocks.found() == blocks.states[-1]
        blocks.store.close()


def test_ids_are_kept_for_two_lives_of_a_transaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_transactions, "LIFE", LIFE)
    monkeypatch.setattr(known_transactions, "MAX_TIME_UNTIL_EXPIRATION", LIFE)
    blocks = Blocks(tmp_path)
    for _ in range(50):
        blocks.block([1])
        blocks.store.irreversible(blocks.head)

    assert sum(map(len, blocks.known.generations)) <= 2 * (LIFE + 2)
    blocks.store.close()


def test_one_that_may_wait_for_longer_is_known_until_then_and_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_transactions, "LIFE", LIFE)
    monkeypatch.setattr(known_transactions, "MAX_TIME_UNTIL_EXPIRATION", LIFE)
    blocks = Blocks(tmp_path)
    blocks.block([10 * LIFE])
    while blocks.head <= 10 * LIFE:
        assert blocks.found() == blocks.states[-1]
        assert blocks.store.count(KNOWN_TRANSACTIONS) <= LIFE + 3
        blocks.block([1])
        blocks.store.irreversible(blocks.head)

    assert blocks.known.find(blocks.sent[0].id) is None
    blocks.store.close()


def test_a_trial_finds_what_the_trunk_has_and_keeps_its_own(tmp_path: Path) -> None:
    blocks = Blocks(tmp_path)
    blocks.block([LIFE])
    blocks.store.commit()
    known = blocks.known.generations
    with blocks.store.beside() as store:
        trial = KnownTransactions(store, known)
        tried = transaction(7, LIFE)
        trial.add(tried)

        assert trial.find(blocks.sent[0].id)
        assert trial.find(tried.id)
    assert blocks.known.find(tried.id) is None
    blocks.store.close()
