"""What blocks change of balances and penalties: added up, it is the state, at each height and on each branch.

`BALANCE_HEIGHTS=100 scripts/test tests/projections/accounts/test_balances.py` compares recorded chains from their
first block to their last, at 100 random heights each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.events import BlockApplied, BlocksUndone, Event
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import VERIFIED_BEFORE, Skip
from ledgerd.chain.ledger.tracing import Tracing
from ledgerd.chain.rules.accounts.new_accounts import open_account
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.codec import codec_of
from ledgerd.projections.accounts.balances import (
    BALANCES,
    FIELDS,
    NOTHING,
    PENALTIES,
    AccountChange,
    Amounts,
    Held,
    PenaltyChange,
    balance_changes,
    balances_in,
    penalties_in,
)
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.operations.virtual import ValidatorReward
from ledgerd.protocol.types.assets import SHARES_SYMBOL, TOKEN_SYMBOL, tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import ACCOUNTS, Account
from ledgerd.state.objects.validators import VALIDATORS
from tests.chain.ledgers import create_account, fresh_ledger
from tests.chain.networks import ALICE, VIZ, start_seven
from tests.chain.observing import observe
from tests.chain.recorded_chains import LIKE_THE_RECORDING, open_chain
from tests.chain.replays import open_replayed
from tests.recorded import ALL_CHAINS, recorded_blocks

IS_LONG = "BALANCE_HEIGHTS" in os.environ
HEIGHTS = int(os.environ.get("BALANCE_HEIGHTS", "5"))

STRETCHES = [("open-1", 600, 612), ("open-main", 180, 204), ("open-hf0", 120, 132), ("open-pm", 700, 716)]
"""What a usual run looks at: with hardforks and penalties, before any hardfork, with markets."""

PLACES = [(name, 0, last) for name, last in ALL_CHAINS.items()] if IS_LONG else STRETCHES

Balances = dict[AccountName, Amounts]


class Table:
    """What a history keeps: the first rows, and what each block changed, for as long as it is not undone."""

    def __init__(self, chain: Chain) -> None:
        with chain.committed() as state:
            self.start = dict(balances_in(state))
            self.penalized = {each.validator: each.percent for each in penalties_in(state)}
        self.blocks: list[BlockApplied] = []
        self.undone = 0
        observe(chain, self.take, BALANCES, {Block: (PENALTIES,)})

    def take(self, event: Event) -> None:
        if isinstance(event, BlockApplied):
            self.blocks.append(event)
        elif isinstance(event, BlocksUndone):
            self.undone += 1
            self.blocks = [each for each in self.blocks if each.block.number <= event.head_number]

    def at(self, height: int) -> tuple[Balances, dict[AccountName, int]]:
        balances, penalties = dict(self.start), dict(self.penalized)
        for each in self.blocks:
            if each.block.number <= height:
                for change in balance_changes(each):
                    assert balances.get(change.account, NOTHING) == change.before != change.after
                    balances[change.account] = change.after
                penalties.update(each.found(PENALTIES))
        held_by = {name: amounts for name, amounts in balances.items() if any(amounts)}
        return held_by, {name: percent for name, percent in penalties.items() if percent}


def held(chain: Chain) -> tuple[Balances, dict[AccountName, int]]:
    """The same, read from the objects of the state."""
    accounts = chain.parts.store.scan(ACCOUNTS)
    all_of = {account.name: tuple(getattr(account, FIELDS[each]) for each in Held) for account in accounts}
    balances = {name: amounts for name, amounts in all_of.items() if any(amounts)}
    validators = chain.parts.store.scan(VALIDATORS)
    return balances, {each.owner: each.penalty_percent for each in validators if each.penalty_percent}


def having(**amounts: int) -> Amounts:
    return tuple(amounts.get(each.name, 0) for each in Held)


@contextmanager
def tracing(ledger: Ledger) -> Iterator[Tracing]:
    """As while a block is applied."""
    tracing = Tracing(ledger.store, BALANCES)
    ledger.begin_tracing(tracing)
    yield tracing
    ledger.end_tracing()


def found_by(tracing: Tracing) -> list[AccountChange]:
    event = BlockApplied(codec_of(Block).decode(recorded_blocks("open-1")[0]), (), 0, 0, 0, traced=tracing.changes())
    return [*balance_changes(event)]


def push(chain: Chain, name: str, number: int) -> None:
    block = codec_of(Block).decode(recorded_blocks(name)[number - 1])
    chain.push_block(block, LIKE_THE_RECORDING if IS_LONG else VERIFIED_BEFORE).or_raise()


@pytest.mark.parametrize(("name", "height", "last"), PLACES)
def test_the_changes_of_blocks_add_up_to_the_state(name: str, height: int, last: int, tmp_path: Path) -> None:
    numbers = range(height + 1, last + 1)
    looked_at = {*Random(name).sample(numbers, min(HEIGHTS, len(numbers))), last}  # noqa: S311 - not a secret
    with open_replayed(name, height, tmp_path) if height else open_chain(name, tmp_path) as chain:
        table = Table(chain)
        assert table.at(height) == held(chain)
        states = {}
        for number in numbers:
            push(chain, name, number)
            if number in looked_at:
                states[number] = held(chain)
        for number, state in states.items():
            assert table.at(number) == state, f"{name} at {number}"
        assert any(each.traced for each in table.blocks)


def changed(each: AccountChange) -> tuple[tuple[Held, int], ...]:
    """The holdings that are others now, each with its new value."""
    return tuple((held, each.after[held]) for held in Held if each.after[held] != each.before[held])


def test_undone_blocks_take_their_changes_with_them(tmp_path: Path) -> None:
    """Blocks are popped and pushed at random; the transactions of popped ones wait, and change nothing told."""
    height, walk = 330, Random(7)  # noqa: S311 - not a secret
    with open_replayed("open-main", height, tmp_path) as chain:
        table, states = Table(chain), {height: held(chain)}
        for _ in range(40):
            if walk.random() < 0.4 and chain.head_number > max(height, chain.irreversible):
                chain.pop_block()
            else:
                push(chain, "open-main", chain.head_number + 1)
                with chain.parts.pending.set_aside(Skip.NOTHING):
                    states[chain.head_number] = held(chain)
            for number in range(height, chain.head_number + 1):
                assert table.at(number) == states[number]
        assert table.undone > 3


# -- causes


def test_a_change_names_what_made_it(tmp_path: Path) -> None:
    """An operation; in the steps of the block the virtual operation that says so, or else the step."""
    network = start_seven(tmp_path)
    chain, null = network.chain, AccountName("null")
    table = Table(chain)
    before, _ = table.at(chain.head_number)
    network.send(Transfer(VIZ, ALICE, tokens(5_000), ""), Transfer(VIZ, null, tokens(7), ""))
    network.produce()
    event = table.blocks[-1]
    first, second = (place for place, each in enumerate(event.operations) if isinstance(each.operation, Transfer))
    spent = before[VIZ][Held.BALANCE]
    found = [*balance_changes(event)]
    rewarded = [each for each in found if each.after[Held.VESTING] != each.before[Held.VESTING]]
    moved = [each for each in found if each not in rewarded]
    assert [(each.account, each.cause, changed(each)) for each in moved] == [
        (VIZ, first, ((Held.BALANCE, spent - 5_000),)),
        (ALICE, first, ((Held.BALANCE, before[ALICE][Held.BALANCE] + 5_000),)),
        (VIZ, second, ((Held.BALANCE, spent - 5_007),)),
        (null, second, ((Held.BALANCE, 7),)),
        (null, "clear_null_account", ((Held.BALANCE, 0),)),
    ]
    reasons = [event.operations[each.cause].operation for each in rewarded if isinstance(each.cause, int)]
    assert len(reasons) == len(rewarded)
    assert {type(each) for each in reasons} <= {ValidatorReward}
    chain.close()


def test_missed_slots_and_their_penalties_are_told_together(tmp_path: Path) -> None:
    network = start_seven(tmp_path)
    table = Table(network.chain)
    late = network.chain.scheduled_at(1)
    network.produce(skipped=1)
    event = table.blocks[-1]
    network.chain.close()
    assert [*event.missed] == [late]
    assert event.found(PENALTIES) == (PenaltyChange(late, 100),)


def test_without_anybody_who_asks_nothing_is_traced(tmp_path: Path) -> None:
    network = start_seven(tmp_path)
    told: list[Event] = []
    observe(network.chain, told.append)
    network.produce()
    network.chain.close()
    assert [(each.traced, each.found(PENALTIES)) for each in told if isinstance(each, BlockApplied)] == [(None, None)]


# -- parts of a block that are taken back


def test_what_was_tried_and_undone_is_not_told(tmp_path: Path) -> None:
    """Neither what changed, nor an account that was made; one that takes its place is told from nothing on."""
    ledger = fresh_ledger(tmp_path)
    viz, name = ledger.account(VIZ), AccountName("newborn")

    def make_and_pay() -> None:
        account = Account(name=name, received_vesting_shares=3)
        open_account(ledger, account, NULL_KEY)
        adjust_balance(ledger, account, 9)

    def fail() -> None:
        with ledger.attempt():
            changes.cause = "tried"
            adjust_balance(ledger, viz, 10)
            make_and_pay()
            raise RuleViolation("no further")

    had, has = viz.balance, (viz.balance + 1, viz.balance + 101)
    with ledger.store.begin(), tracing(ledger) as changes:
        changes.cause = "before"
        adjust_balance(ledger, viz, 1)
        with pytest.raises(RuleViolation):
            fail()
        assert changes.cause == "before"
        changes.cause = "after"
        make_and_pay()
        adjust_balance(ledger, viz, 100)
        changes.settle()
        assert found_by(changes) == [
            AccountChange(VIZ, "before", having(BALANCE=had), having(BALANCE=has[0])),
            AccountChange(name, "after", NOTHING, having(BALANCE=9, RECEIVED=3)),
            AccountChange(VIZ, "after", having(BALANCE=has[0]), having(BALANCE=has[1])),
        ]


def test_a_removed_account_has_nothing_any_more(tmp_path: Path) -> None:
    ledger = fresh_ledger(tmp_path)
    create_account(ledger, ALICE, balance=5, shares=6)
    with ledger.store.begin(), tracing(ledger) as changes:
        changes.cause = "remove"
        ledger.store.remove(ledger.account(ALICE))
        assert found_by(changes) == [AccountChange(ALICE, "remove", having(BALANCE=5, VESTING=6), NOTHING)]


# -- what stands


def test_what_stands_is_told_as_first_rows(tmp_path: Path) -> None:
    network = start_seven(tmp_path)
    expected, _ = held(network.chain)
    with network.chain.committed() as state:
        assert dict(balances_in(state)) == expected
    network.chain.close()


def test_each_holding_has_its_symbol() -> None:
    of_shares = {Held.VESTING, Held.DELEGATED, Held.RECEIVED}
    assert {each: each.symbol for each in Held} == {
        each: SHARES_SYMBOL if each in of_shares else TOKEN_SYMBOL for each in Held
    }
    assert set(FIELDS) == set(Held)
