"""Trying a transaction out says what it would do, and leaves nothing behind."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from msgspec.structs import replace

from ledgerd.chain.chain import Chain
from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.ledger.ledger import OutOfTime
from ledgerd.chain.ledger.skip import Skip
from ledgerd.chain.pending.pending import SIMULATION_SECONDS
from ledgerd.chain.pending.simulation import BalanceChange, NeededAuthority, SimulatedEffects
from ledgerd.codec import CodecError
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.money.awards import Award
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_NAME
from tests.chain.networks import VIZ, Network
from tests.chain.replays import open_replayed
from tests.chain.traffic import Traffic, recorded_operations
from tests.chain.whole_state import first_change, whole_state

PAYER, PAYEE = AccountName("payer"), AccountName("payee")
PAYER_KEY, PAYEE_KEY = PrivateKey(b"\1" * 32), PrivateKey(b"\2" * 32)
SHARES = (999_999, 999_999)
"""What both have from their creation on."""
BATCH, BATCHES = 30, 2
UNSIGNED = Skip.TRANSACTION_SIGNATURES | Skip.AUTHORITIES


@pytest.fixture
def network(network: Network) -> Network:
    network.create_account(PAYER, PAYER_KEY)
    network.create_account(PAYEE, PAYEE_KEY)
    network.produce()
    return network


def draft(chain: Chain, *operations: Operation, salt: int = 0) -> Transaction:
    return unsigned_transaction(chain.head_id, chain.head_time + 600 + salt, operations)


def pay(amount: int, sender: AccountName = PAYER, recipient: AccountName = PAYEE) -> Transfer:
    return Transfer(sender, recipient, tokens(amount), "")


def balances(chain: Chain, name: AccountName) -> tuple[int, int]:
    account = chain.parts.store.at(ACCOUNT_BY_NAME, name)
    return account.balance, account.vesting_shares


# -- what it says


def test_an_unsigned_transaction_says_who_has_to_sign_and_what_changes(network: Network) -> None:
    effects = network.chain.simulate_transaction(draft(network.chain, pay(1_000)))

    assert effects.not_checked == (NeededAuthority("active", PAYER),)
    assert [each.operation for each in effects.operations] == [pay(1_000)]
    assert set(effects.balances) == {
        BalanceChange(PAYER, (1_000_000, 999_000), SHARES),
        BalanceChange(PAYEE, (1_000_000, 1_001_000), SHARES),
    }


def test_signatures_are_checked_as_far_as_they_go(network: Network) -> None:
    chain, both = network.chain, draft(network.chain, pay(1), pay(2, PAYEE, PAYER))
    signed = both.signed(chain.network.chain_id, [PAYER_KEY])

    assert chain.simulate_transaction(signed).not_checked == (NeededAuthority("active", PAYEE),)
    assert chain.simulate_transaction(both.signed(chain.network.chain_id, [PAYER_KEY, PAYEE_KEY])).not_checked == ()


def test_a_signature_too_many_is_the_rule_that_it_breaks(network: Network) -> None:
    chain = network.chain
    signed = draft(chain, pay(1)).signed(chain.network.chain_id, [PAYER_KEY, PAYEE_KEY])

    with pytest.raises(RuleViolation, match="Unnecessary signature"):
        chain.simulate_transaction(signed)


def test_it_stands_on_top_of_the_transactions_that_wait(network: Network) -> None:
    network.send(pay(999_999), key=PAYER_KEY)

    with pytest.raises(RuleViolation, match="sufficient funds"):
        network.chain.simulate_transaction(draft(network.chain, pay(2)))
    effects = network.chain.simulate_transaction(draft(network.chain, pay(1)))
    assert BalanceChange(PAYER, (1, 0), SHARES) in effects.balances


def test_a_transaction_that_waits_already_is_a_duplicate(network: Network) -> None:
    with pytest.raises(RuleViolation, match="Duplicate transaction"):
        network.chain.simulate_transaction(network.send(pay(1), key=PAYER_KEY))


def test_virtual_operations_are_told_with_their_numbers(network: Network) -> None:
    award = Award(VIZ, PAYER, 1_000, 0, "", ())
    effects = network.chain.simulate_transaction(draft(network.chain, award))

    assert [(name_of(type(each.operation)), each.virtual_operation) for each in effects.operations] == [
        ("award", 0),
        ("receive_award", 1),
    ]


# -- what it leaves


def test_it_ends_when_its_time_is_over(network: Network) -> None:
    chain = network.chain
    before = whole_state(chain.parts.store)
    network.clock.now = 0.0
    times = iter([0.0, 0.0, SIMULATION_SECONDS * 2])
    chain.parts.pending._clock = lambda: next(times)  # noqa: SLF001 - time that passes while it is tried

    with pytest.raises(OutOfTime):
        chain.simulate_transaction(draft(chain, pay(1), pay(2)))
    assert first_change(before, whole_state(chain.parts.store)) is None


def test_nobody_is_told_and_what_waits_stays_as_it_was(network: Network) -> None:
    chain = network.chain

    class Told(Observer):
        wants_pending = True
        count = 0

        def pending_changed(self, _rows: object) -> None:
            self.count += 1

        def pending_dropped(self) -> None:
            self.count += 1

    told = Told()
    network.send(pay(5), key=PAYER_KEY)
    chain.observe(told)
    chain.simulate_transaction(draft(chain, pay(1)))
    assert (told.count, len(chain.waiting)) == (0, 1)
    network.produce()
    assert balances(chain, PAYER)[0] == 999_995


def simulated(chain: Chain, transaction: Transaction) -> SimulatedEffects | None:
    try:
        return chain.simulate_transaction(transaction)
    except (RuleViolation, CodecError):
        return None


def is_taken(chain: Chain, transaction: Transaction) -> bool:
    try:
        chain.push_transaction(transaction, UNSIGNED)
    except (RuleViolation, CodecError):
        return False
    return True


def test_it_is_undone_to_the_byte_and_says_what_then_happens(tmp_path: Path) -> None:
    """Random operations, on top of those of former batches that wait."""
    name, height = "open-main15", 1216
    operations = iter(Traffic(recorded_operations(name, height, range(height - 30, height)), seed=height))
    taken = refused = 0
    with open_replayed(name, height, tmp_path) as chain:
        for number in range(BATCHES):
            batch = [
                replace(draft(chain, each), expiration=chain.head_time + 1 + number * BATCH + salt)
                for salt, each in enumerate(islice(operations, BATCH))
            ]
            before = whole_state(chain.parts.store)
            for transaction in batch:
                simulated(chain, transaction)
            assert first_change(before, whole_state(chain.parts.store)) is None
            for transaction in batch:
                effects = simulated(chain, transaction)
                assert is_taken(chain, transaction) == (effects is not None), transaction
                taken, refused = taken + (effects is not None), refused + (effects is None)
                for change in effects.balances if effects is not None else ():
                    assert balances(chain, change.account) == (change.tokens[1], change.shares[1])
    assert taken > BATCH / 4
    assert refused > 0
