"""What a chain does to leave a dead end: forget branches and refusals, and go back to the irreversible block."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.chain.forks.outcome import Applied, Refused
from ledgerd.chain.ledger.provenance import Provenance, record_provenance
from ledgerd.chain.ledger.skip import SkipFlags
from ledgerd.chain.offline.invariants import check
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import RuleViolation
from tests.chain.networks import Network, start_seven


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    network = start_seven(tmp_path / "ours")
    yield network
    network.chain.close()


@pytest.fixture
def others(tmp_path: Path) -> Iterator[Network]:
    network = start_seven(tmp_path / "others")
    yield network
    network.chain.close()


def test_a_block_that_a_fault_has_refused_is_judged_anew(
    network: Network, others: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    block, after = others.produce(2)
    chain = network.chain

    def refuse(_block: Block, _skip: SkipFlags) -> None:
        raise RuleViolation("a fault")

    with monkeypatch.context() as patch:
        patch.setattr(chain.parts.trunk, "apply", refuse)
        assert isinstance(chain.push_block(block), Refused)
    assert isinstance(chain.push_block(block), Refused), "it is known by its id"

    chain.forget_branches()

    assert isinstance(chain.push_block(block), Applied)
    assert isinstance(chain.push_block(after), Applied)


def test_candidates_are_forgotten_and_the_trunk_is_not(network: Network, others: Network) -> None:
    branch = others.produce(3, skipped=1)
    network.produce(4)
    chain = network.chain
    for block in branch:
        chain.push_block(block)
    assert chain.is_known(branch[-1].id)
    head = chain.head_id

    chain.forget_branches()

    assert not chain.is_known(branch[-1].id)
    assert chain.head_id == head
    assert len(network.produce(2)) == 2


def test_all_that_is_not_irreversible_is_undone_for_good(network: Network) -> None:
    network.produce(3)
    chain = network.chain
    lib, head = chain.irreversible, chain.head_number
    assert lib < head

    assert chain.go_back() == head - lib

    assert chain.head_number == chain.block_log.head_number == lib
    assert check(chain) == []
    network.reopen()
    assert network.chain.head_number == lib


def test_the_way_that_was_left_can_be_gone_again(network: Network) -> None:
    blocks = network.produce(3)
    lib = network.chain.irreversible
    kept = [block for number in range(lib + 1, blocks[0].number) if (block := network.chain.block_at(number))]

    network.chain.go_back()

    for block in (*kept, *blocks):
        assert network.chain.push_block(block).has_moved
    assert network.chain.head_id == blocks[-1].id


def test_that_a_state_was_checked_is_noted_for_good(network: Network) -> None:
    chain = network.chain
    chain.record_audit()
    assert chain.provenance is None
    record_provenance(chain.parts.store, Provenance(5))
    chain.record_audit()
    network.reopen()
    assert network.chain.provenance == Provenance(5, is_audited=True)
