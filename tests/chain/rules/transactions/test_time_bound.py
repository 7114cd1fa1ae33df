"""What waits may take so long to apply; what is in a block may take any time."""

from __future__ import annotations

import pytest

from ledgerd.chain.rules.transactions.bounds import QUICK_OPERATIONS, TRANSACTION_SECONDS, BeyondTimeBound
from ledgerd.protocol.operations.accounts.proposals import OperationWrapper, ProposalCreate, ProposalUpdate
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from tests.chain.networks import COMMITTEE, VIZ, VIZ_KEY, Network
from tests.chain.webs import block_of

AT_MOST = 50
"""Operations that there is time for."""
LONG = (Transfer(VIZ, COMMITTEE, tokens(1), ""),) * (QUICK_OPERATIONS + 2 * AT_MOST)
TOLD = "takes longer than"


class SlowClock:
    """A clock by which each operation takes its part of the time."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> float:
        self.asked += 1
        return self.asked * TRANSACTION_SECONDS / AT_MOST


def slow_down(network: Network) -> SlowClock:
    clock = SlowClock()
    network.chain.parts.pending._clock = clock  # noqa: SLF001 - a clock that runs while operations are applied
    return clock


def test_operations_that_take_too_long_are_ended_and_nothing_of_them_stays(network: Network) -> None:
    transaction, before = network.signed(*LONG), network.chain.parts.ledger.account(VIZ).balance
    clock = slow_down(network)

    with pytest.raises(BeyondTimeBound, match=TOLD):
        network.chain.push_transaction(transaction)
    assert clock.asked < AT_MOST + 5
    assert network.chain.seconds_spent >= TRANSACTION_SECONDS
    assert network.chain.waiting == ()
    assert network.chain.parts.ledger.account(VIZ).balance == before


def test_a_few_operations_are_taken_however_slow_the_machine_is(network: Network) -> None:
    transaction = network.signed(*LONG[:QUICK_OPERATIONS])
    now = iter(range(1_000))
    network.chain.parts.pending._clock = lambda: next(now)  # noqa: SLF001 - a second passes whenever it is asked

    network.chain.push_transaction(transaction)

    assert network.chain.waiting == (transaction,)


def test_the_same_is_law_in_a_block(network: Network) -> None:
    transaction = network.signed(*LONG)
    clock = slow_down(network)
    block = block_of(network, [transaction])
    asked = clock.asked

    network.chain.push_block(block).or_raise()

    assert network.chain.head_id == block.id
    assert clock.asked - asked < 5


def test_operations_of_a_proposal_count_and_are_no_broken_rule_of_it(network: Network) -> None:
    """A proposal that breaks a rule waits, and its approval is accepted all the same; this is refused."""
    inside = tuple(map(OperationWrapper, LONG))
    network.send(ProposalCreate(VIZ, "title", "", network.chain.head_time + 86_400, inside, None, ()))
    network.produce()
    approval = network.signed(ProposalUpdate(VIZ, "title", (VIZ,), (), (), (), (), (), (), (), ()), key=VIZ_KEY)
    slow_down(network)

    with pytest.raises(BeyondTimeBound, match=TOLD):
        network.chain.push_transaction(approval)


def test_what_waits_is_dropped_if_it_takes_too_long_by_then(network: Network) -> None:
    network.send(*LONG)
    waited = len(network.chain.waiting)
    block = block_of(network, [])
    slow_down(network)

    network.chain.push_block(block).or_raise()

    assert (waited, len(network.chain.waiting)) == (1, 0)


def test_a_block_of_ours_is_made_without_it_and_with_what_waits_behind_it(network: Network) -> None:
    network.send(*LONG)
    short = network.send(*LONG[:2])
    slow_down(network)

    assert network.make().transactions == (short,)
