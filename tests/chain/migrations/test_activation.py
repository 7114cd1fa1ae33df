"""Hardforks 14 and 15 come by the votes of those who make the blocks (spec 10, sections 8.3 and 12.7)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from ledgerd.chain.ledger.events import AppliedOperation, BlockApplied, Event
from ledgerd.protocol.blocks.block import Block, BlockHeader, HardforkVote, HeaderExtension, sign_block
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.networks.hardforks import rescheduled
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.accounts.agents import SetAgentPermission
from ledgerd.protocol.operations.virtual import Hardfork
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.versions import HardforkVersionVote
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_POOLS
from tests.chain.networks import GENESIS, SEVEN, VIZ, VIZ_KEY, Network, start_seven
from tests.chain.observing import observe
from tests.chain.same_state import assert_same_state

ROUND = 7
FOUNDED = 112
"""Blocks after which seven validators are past hardfork 13, and the last of a round."""

SOON = GENESIS + (FOUNDED + 2 * ROUND) * 3
"""A time in the third round from there."""


def planned(at_14: int, at_15: int) -> ChainParameters:
    """Seven validators of which five must agree, as 17 of 21 must on the mainnet."""
    return replace(
        SEVEN, hardfork_required_validators=5, hardforks=rescheduled(SEVEN.hardforks, {14: at_14, 15: at_15})
    )


class Told:
    """The hardforks that a chain has told, each with its block and its number among the virtual operations."""

    def __init__(self, network: Network) -> None:
        self.hardforks: list[tuple[int, int, int]] = []
        observe(network.chain, self._note)

    def _note(self, event: Event) -> None:
        if isinstance(event, BlockApplied):
            self.hardforks += [_told(each) for each in event.operations if isinstance(each.operation, Hardfork)]


def _told(applied: AppliedOperation) -> tuple[int, int, int]:
    assert isinstance(applied.operation, Hardfork)
    return applied.operation.hardfork_id, applied.block, applied.virtual_operation


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    """Stands at hardfork 13; the votes for 14 are there, its time is not."""
    network = start_seven(tmp_path / "one", planned(SOON, GENESIS), FOUNDED)
    assert network.chain.parts.ledger.hardforks.last_hardfork == 13
    yield network
    network.chain.close()


def voted(block: Block) -> list[tuple[int, int]]:
    return [(each.vote.version, each.vote.time) for each in block.extensions if isinstance(each, HardforkVote)]


def agent() -> SetAgentPermission:
    return SetAgentPermission(VIZ, AccountName("bot"), VIZ_KEY.public, ("transfer",), 0, (), ())


def version(network: Network, number: int) -> tuple[int, int]:
    """What a vote for a hardfork says."""
    hardfork = network.chain.network.hardforks[number]
    return hardfork.version, hardfork.time


def test_a_round_brings_14_and_the_next_one_15(network: Network) -> None:
    told = Told(network)
    blocks = network.produce(2 * ROUND)
    assert [voted(block) for block in blocks] == [[]] * (2 * ROUND)
    assert (told.hardforks[0][:2], network.chain.head_number) == ((14, 126), 126)
    # Only now does a node vote for 15, whose time came long ago; each validator with its next block.
    assert network.chain.parts.ledger.store.count(PM_LAZY_POOLS) == 1
    blocks = network.produce(ROUND - 1)
    assert [voted(block) for block in blocks] == [[version(network, 15)]] * (ROUND - 1)
    with pytest.raises(RuleViolation, match="Agent access is not enabled yet"):
        network.send(agent())
    # The vote in the last block of the round counts in that very block.
    blocks = network.produce()
    assert voted(blocks[0]) == [version(network, 15)]
    assert [each[:2] for each in told.hardforks] == [(14, 126), (15, 133)]
    network.send(agent())
    blocks = network.produce(ROUND)
    assert len(blocks[0].transactions) == 1
    assert [voted(block) for block in blocks] == [[]] * ROUND


def make_voting(network: Network, vote: tuple[int, int] | None) -> Block:
    """The next block, with another vote in its header than a node would cast."""
    block = network.make()
    extensions: tuple[HeaderExtension, ...] = tuple(
        each for each in block.extensions if not isinstance(each, HardforkVote)
    )
    if vote is not None:
        extensions = (*extensions, HardforkVote(HardforkVersionVote(*vote)))
    header = BlockHeader(block.previous, block.timestamp, block.validator, block.transaction_merkle_root, extensions)
    return sign_block(header, block.transactions, network.keys[AccountName(block.validator)])


def produce_round(network: Network, voters: int) -> list[Block]:
    """A round in which so many vote for 15 though 14 has not been."""
    blocks = [make_voting_and_push(network, version(network, 15) if place < voters else None) for place in range(ROUND)]
    assert network.chain.head_number % ROUND == 0
    return blocks


def make_voting_and_push(network: Network, vote: tuple[int, int] | None) -> Block:
    block = make_voting(network, vote)
    assert network.chain.push_block(block).has_moved
    return block


def test_enough_votes_for_15_bring_14_with_it_in_one_block(network: Network) -> None:
    told = Told(network)
    blocks = produce_round(network, voters=5)
    assert blocks[-1].timestamp < SOON
    assert [each[:2] for each in told.hardforks] == [(14, 119), (15, 119)]
    first, second = (each[2] for each in told.hardforks)
    assert second == first + 1
    record, known = network.chain.parts.ledger.hardforks, network.chain.network.hardforks
    assert record.processed_hardforks[13:] == (known[13].time, SOON, GENESIS)
    assert (record.last_hardfork, record.current_hardfork_version) == (15, known[15].version)
    assert network.chain.parts.ledger.store.count(PM_LAZY_POOLS) == 1
    network.send(agent())
    (block,) = network.produce()
    assert (len(block.transactions), voted(block)) == (1, [])


def test_too_few_votes_for_15_bring_nothing(network: Network) -> None:
    told = Told(network)
    produce_round(network, voters=4)
    assert told.hardforks == []
    assert network.chain.parts.ledger.hardforks.last_hardfork == 13


@pytest.fixture
def follower(network: Network, tmp_path: Path) -> Iterator[Network]:
    """Another node with the same blocks."""
    other = Network(tmp_path / "two", network.chain.network)
    other.follow(network.blocks())
    yield other
    other.chain.close()


def assert_taken_back(network: Network, follower: Network, blocks: list[Block], before: int, after: int) -> None:
    """The last of these blocks, which brought a hardfork, leaves nothing behind; and it comes back."""
    follower.follow(blocks[:-1])
    network.chain.pop_block()
    assert network.chain.parts.ledger.hardforks.last_hardfork == before
    assert_same_state(network.chain, follower.chain)
    follower.follow(blocks[-1:])
    network.follow(blocks[-1:])
    assert network.chain.parts.ledger.hardforks.last_hardfork == after
    assert_same_state(network.chain, follower.chain)


def test_a_block_that_brought_a_hardfork_is_taken_back_exactly(network: Network, follower: Network) -> None:
    assert_taken_back(network, follower, network.produce(2 * ROUND), 13, 14)
    assert_taken_back(network, follower, network.produce(ROUND), 14, 15)


def test_a_block_that_brought_both_is_taken_back_exactly(network: Network, follower: Network) -> None:
    assert_taken_back(network, follower, produce_round(network, voters=5), 13, 15)
