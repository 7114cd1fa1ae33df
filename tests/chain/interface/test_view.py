"""What others read of the chain: the best chain, its branches, its validators and their slots."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import ALICE, COMMITTEE, OTHERS, VIZ, VIZ_KEY, Network, start_seven


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    made = start_seven(tmp_path_factory.mktemp("seven"))
    yield made
    made.chain.close()


def test_blocks_of_the_best_chain_come_from_the_log_and_from_what_is_reversible(network: Network) -> None:
    chain = network.chain
    for number in (1, chain.irreversible, chain.irreversible + 1, chain.head_number):
        block = chain.block_at(number)
        assert block is not None
        assert (block.packed, block.id) == (chain.packed_at(number), chain.id_at(number))
        assert chain.is_on_trunk(block.id)
        assert chain.is_known(block.id)
    assert chain.packed_at(0) is None
    assert chain.packed_at(chain.head_number + 1) is None
    assert chain.block_at(chain.head_number + 1) is None


def test_a_block_that_is_not_applied_is_a_candidate_at_most(tmp_path: Path) -> None:
    network = start_seven(tmp_path)
    chain, rival = network.chain, network.make(skipped=2)
    assert not chain.is_known(rival.id)
    (block,) = network.produce()
    chain.push_block(rival)
    assert [each.id for each in chain.candidates_at(block.number)] == [block.id, rival.id]
    assert chain.count_candidates(range(block.number - 1, block.number + 6)) == 3
    assert chain.is_linked(rival.id)
    assert not chain.is_on_trunk(rival.id)
    assert not chain.is_minority()
    assert chain.is_signed(rival)
    assert chain.recent_producers(1) == (AccountName(block.validator),)
    chain.close()


def test_slots_and_schedule_are_those_by_which_blocks_are_made(network: Network) -> None:
    chain = network.chain
    assert sorted(chain.scheduled) == sorted((VIZ, *OTHERS))
    made = network.make(skipped=3)
    assert (made.timestamp, made.validator) == (chain.slot_time(4), chain.scheduled_at(4))
    assert chain.slot_at(made.timestamp) == 4


def test_keys_are_those_of_the_state(network: Network) -> None:
    chain = network.chain
    assert chain.active_keys(VIZ) == frozenset([VIZ_KEY.public])
    assert chain.active_keys(AccountName("nobody")) is None
    validator = chain.validator(VIZ)
    assert validator is not None
    assert validator.signing_key == VIZ_KEY.public
    assert chain.validator(ALICE) is None
    assert COMMITTEE not in chain.scheduled


def test_a_transaction_refers_to_the_trunk_or_to_nothing_that_is_known(network: Network) -> None:
    chain = network.chain
    good = network.signed()
    assert chain.refers_to_trunk(good)
    draft = good.__class__(good.ref_block_num, good.ref_block_prefix ^ 1, good.expiration, (), (), ())
    assert not chain.refers_to_trunk(draft)
    assert chain.refers_to_trunk(good.__class__(0, 1, good.expiration, (), (), ()))
