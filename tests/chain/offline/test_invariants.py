"""Every check of `ledgerd check` finds the error that it is for, down to a single unit, in an otherwise sound chain.

That sound chains of all eras pass is held by the recorded ones, in `test_recorded_chains`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.discrepancies import forget, record_discrepancy, recorded
from ledgerd.chain.offline.audit import accept_discrepancies, excess_tokens, excess_votes
from ledgerd.chain.offline.invariants import STATE_CHECKS, check, indexes_agree, log_agrees
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.state import Table
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_NAME, ACCOUNTS
from ledgerd.state.objects.discrepancies import Sum
from ledgerd.state.objects.globals import AWARD_SHARES_EXPIRE, DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.objects.money.escrow import ESCROWS
from ledgerd.state.objects.money.invites import INVITES
from ledgerd.state.objects.money.vesting import (
    VESTING_DELEGATION_EXPIRATIONS,
    VESTING_DELEGATIONS,
    WITHDRAW_VESTING_ROUTES,
)
from ledgerd.state.objects.validators import VALIDATOR_VOTES, VALIDATORS
from tests.chain.recorded_chains import advance, open_chain
from tests.chain.replays import open_replayed
from tests.recorded import recorded_blocks

HEIGHT = 700
"""By then the chain has objects of every kind, a fixed award that paid too much, and votes that drift."""


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    with open_replayed("open-1", HEIGHT, tmp_path_factory.mktemp("open-1")) as chain:
        yield chain
        assert check(chain) == [], "a test has left something behind"


def sums_of(chain: Chain) -> list[str]:
    """What all checks find but those of all indexes and of the whole log, which take nine tenths of the time."""
    checks = [each for each in STATE_CHECKS if each is not indexes_agree]
    return [*(problem for each in checks for problem in each(chain.parts.ledger)), *log_agrees(chain)]


def add_to(chain: Chain, table: Table[Any], field: str, amount: int = 1) -> None:
    """Let the last object of a table have one more of something."""
    entity = chain.parts.store.first(table, reverse=True)
    assert entity is not None
    with chain.parts.store.editing(entity):
        setattr(entity, field, getattr(entity, field) + amount)


def test_the_chain_is_sound_though_sums_of_the_reference_differ(chain: Chain) -> None:
    assert check(chain) == []
    assert excess_tokens(chain.parts.ledger) == {0: 637}
    assert len(excess_votes(chain.parts.ledger)) > 0


AMOUNTS: tuple[tuple[Table[Any], str, str], ...] = (
    (DYNAMIC_GLOBAL_PROPERTIES, "current_supply", "the supply is"),
    (DYNAMIC_GLOBAL_PROPERTIES, "total_vesting_fund", "the supply is"),
    (DYNAMIC_GLOBAL_PROPERTIES, "total_reward_fund", "the supply is"),
    (DYNAMIC_GLOBAL_PROPERTIES, "committee_fund", "the supply is"),
    (DYNAMIC_GLOBAL_PROPERTIES, "total_vesting_shares", "shares, but all accounts together"),
    (DYNAMIC_GLOBAL_PROPERTIES, "total_reward_shares", "reward shares, but all awards together"),
    (ACCOUNTS, "balance", "the supply is"),
    (ACCOUNTS, "reserved_balance", "the supply is"),
    (ACCOUNTS, "vesting_shares", "shares, but all accounts together"),
    (ACCOUNTS, "delegated_vesting_shares", "delegates"),
    (ACCOUNTS, "received_vesting_shares", "received"),
    (ACCOUNTS, "validators_voted_for", "votes for"),
    (ACCOUNTS, "withdraw_routes", "withdrawal routes, not"),
    (ESCROWS, "token_balance", "the supply is"),
    (ESCROWS, "pending_fee", "the supply is"),
    (INVITES, "balance", "the supply is"),
    (VALIDATORS, "pending_stakeholder_reward", "the supply is"),
    (VALIDATORS, "votes", "votes, but should have"),
    (VESTING_DELEGATIONS, "vesting_shares", "shares"),
    (VESTING_DELEGATION_EXPIRATIONS, "vesting_shares", "delegates"),
    (AWARD_SHARES_EXPIRE, "rshares", "reward shares, but all awards together"),
)


@pytest.mark.parametrize("amount", [1, -1])
@pytest.mark.parametrize(("table", "field", "message"), AMOUNTS)
def test_an_amount_that_is_off_by_one_is_found(
    chain: Chain, table: Table[Any], field: str, message: str, amount: int
) -> None:
    with chain.parts.store.begin():
        add_to(chain, table, field, amount)
        problems = sums_of(chain)
    assert any(message in problem for problem in problems), problems


REMOVED: tuple[tuple[Table[Any], str], ...] = (
    (VALIDATOR_VOTES, "votes for"),
    (VALIDATOR_VOTES, "votes, but should have"),
    (VESTING_DELEGATIONS, "delegates"),
    (WITHDRAW_VESTING_ROUTES, "withdrawal routes, not"),
    (ESCROWS, "the supply is"),
)


@pytest.mark.parametrize(("table", "message"), REMOVED)
def test_an_object_that_is_missing_is_found(chain: Chain, table: Table[Any], message: str) -> None:
    with chain.parts.store.begin():
        gone = chain.parts.store.first(table)
        assert gone is not None
        chain.parts.store.remove(gone)
        problems = sums_of(chain)
    assert any(message in problem for problem in problems), problems


def test_a_wrong_weight_of_a_voter_is_found(chain: Chain) -> None:
    vote = chain.parts.store.first(VALIDATOR_VOTES)
    assert vote is not None
    with chain.parts.store.begin():
        voter = chain.parts.store.get(ACCOUNTS, vote.account)
        with chain.parts.store.editing(voter):
            voter.validators_vote_weight += 1
        problems = sums_of(chain)
    assert any("votes, but should have" in problem for problem in problems)


def test_shares_that_are_proxied_wrongly_are_found(chain: Chain) -> None:
    account = next(each for each in chain.parts.store.scan(ACCOUNTS) if each.proxy)
    proxy = chain.parts.store.at(ACCOUNT_BY_NAME, account.proxy)
    with chain.parts.store.begin():
        with chain.parts.store.editing(proxy):
            proxy.proxied_vsf_votes = (0, *proxy.proxied_vsf_votes[1:])
        problems = sums_of(chain)
    assert [problem for problem in problems if problem.startswith(f"{proxy.name} is proxied")]


def test_an_object_that_was_changed_behind_its_index_is_found(chain: Chain) -> None:
    account = chain.parts.store.first(ACCOUNTS)
    assert account is not None
    before = account.next_vesting_withdrawal
    account.next_vesting_withdrawal = 1
    problems = check(chain)
    account.next_vesting_withdrawal = before
    assert any("Account.by_next_vesting_withdrawal" in problem for problem in problems), problems
    assert check(chain) == []


class WrongLog:
    """A log that does not fit the state."""

    def __init__(self, blocks: tuple[bytes, ...], read: Callable[[int], bytes | None]) -> None:
        self.first_number = 1
        self.head_number = len(blocks)
        self._read = read

    def block(self, number: int) -> Block | None:
        packed = self._read(number)
        return None if packed is None else codec_of(Block).decode_exactly(packed)

    def faults(self) -> Iterator[str]:
        return iter(())


def test_a_log_that_does_not_fit_is_found(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = recorded_blocks("open-1")[: chain.irreversible]
    missing, other = 650, 660
    for log, problem in (
        (WrongLog(blocks[:-1], lambda number: blocks[number - 1]), "the block log ends at"),
        (WrongLog(blocks, lambda number: None if number == missing else blocks[number - 1]), "block 650 is missing"),
        (WrongLog(blocks, lambda number: blocks[number - (number == other) - 1]), "block 660 of the block log"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(Chain, "block_log", log)
            assert [each for each in check(chain) if each.startswith(problem)]
    assert check(chain) == []


# -- what the reference's rules put out of balance


def test_what_rules_put_out_of_balance_is_allowed_for_once_and_no_more(chain: Chain) -> None:
    with chain.parts.store.begin():
        record_discrepancy(chain.parts.ledger, Sum.TOKENS, 1)
        assert [problem for problem in check(chain) if problem.startswith("the supply is")]
        add_to(chain, ACCOUNTS, "balance")
        assert check(chain) == []
        record_discrepancy(chain.parts.ledger, Sum.TOKENS, -1)
        add_to(chain, ACCOUNTS, "balance", -1)
        assert check(chain) == []


def test_an_imported_state_is_accepted_with_its_discrepancies_and_no_others(chain: Chain) -> None:
    ledger = chain.parts.ledger
    before = {kind: recorded(ledger, kind) for kind in Sum}
    with chain.parts.store.begin():
        for kind in Sum:
            forget(ledger, kind)
        assert check(chain) != []
        accept_discrepancies(ledger, excess_tokens(ledger).get(0, 0))
        assert {kind: recorded(ledger, kind) for kind in Sum} == before
        assert check(chain) == []
        add_to(chain, VALIDATORS, "votes")
        assert len(check(chain)) == 1


def test_a_chain_that_was_closed_is_still_sound(tmp_path: Path) -> None:
    with open_chain("open-1", tmp_path) as chain:
        advance(chain, "open-1", 230)
    with open_chain("open-1", tmp_path) as chain:
        assert excess_tokens(chain.parts.ledger) == {0: 25}
        assert check(chain) == []
