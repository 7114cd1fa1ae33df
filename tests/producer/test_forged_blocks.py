"""What a producer sees of the chain: of blocks that nobody with a right to them has signed, nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.producer.facts import read_facts
from ledgerd.protocol.blocks.block import Block, BlockHeader, sign_block
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.types.identifiers import MerkleRoot
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import OTHERS, Network, start_seven

ALICE = OTHERS[0]


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    network = start_seven(tmp_path)
    network.produce(2)
    yield network
    network.chain.close()


def beside(network: Network, length: int, key: PrivateKey, name: AccountName = ALICE) -> list[Block]:
    """A branch in one name, from the parent of the head on."""
    head = network.chain.block_at(network.chain.head_number)
    assert head is not None
    blocks: list[Block] = []
    for place in range(length):
        previous = blocks[-1].id if blocks else head.previous
        header = BlockHeader(previous, head.timestamp + 3 * place, name, MerkleRoot(bytes(20)), ())
        blocks.append(sign_block(header, (), key))
    return blocks


def push_unjudged(network: Network, block: Block) -> None:
    """A candidate of which signatures do not say enough: as those inside a branch that changes keys."""
    forks = network.chain.parts.forks
    forks.judge = lambda _: None
    forks.push(block)


def test_a_block_beside_our_head_competes_with_ours_when_its_validator_signed_it(network: Network) -> None:
    blocks = beside(network, 2, network.keys[ALICE])
    for block in blocks:
        push_unjudged(network, block)
    assert [rival.id for rival in read_facts(network.chain, ()).rivals] == [blocks[1].id]


def test_a_block_that_nobody_signed_competes_with_nothing(network: Network) -> None:
    for block in beside(network, 2, PrivateKey(b"\7" * 32)):
        push_unjudged(network, block)
    assert len(network.chain.parts.forks.items_at(network.chain.head_number + 1)) == 1
    assert read_facts(network.chain, ()).rivals == ()


def test_a_forged_branch_does_not_hide_who_made_the_last_blocks(network: Network) -> None:
    before = read_facts(network.chain, ()).recent_producers
    for block in beside(network, 9, PrivateKey(b"\7" * 32)):
        push_unjudged(network, block)
    assert read_facts(network.chain, ()).recent_producers == before


def test_what_is_forged_on_top_of_a_longer_branch_does_not_hide_that_branch(network: Network) -> None:
    blocks = beside(network, 9, network.keys[ALICE])
    tip = sign_block(
        BlockHeader(blocks[-1].id, blocks[-1].timestamp + 3, OTHERS[1], MerkleRoot(bytes(20)), ()),
        (),
        PrivateKey(b"\7" * 32),
    )
    for block in (*blocks, tip):
        push_unjudged(network, block)
    assert set(read_facts(network.chain, ()).recent_producers) == {ALICE}


def test_a_longer_branch_that_was_signed_is_what_a_producer_goes_by(network: Network) -> None:
    for block in beside(network, 9, network.keys[ALICE]):
        push_unjudged(network, block)
    assert set(read_facts(network.chain, ()).recent_producers) == {ALICE}
