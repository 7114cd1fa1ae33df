"""The metrics of a chain, over recorded blocks and over events."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ledgerd.chain.chain import Chain
from ledgerd.metrics.names import ValidatorPlaces
from ledgerd.metrics.table import chain as table
from ledgerd.metrics.table import validators
from ledgerd.node.parts.watching.chain_meter import ChainMeter, hardfork_name
from ledgerd.protocol.networks.parameters import MAINNET, TESTNET
from ledgerd.protocol.types.versions import version_number
from tests.chain.networks import start_seven
from tests.chain.recorded_chains import advance, network_of
from tests.metrics.memories import NodeMemory, node_memory


def metered(node: NodeMemory, now: Callable[[], float]) -> ChainMeter:
    cells = node.main()
    return ChainMeter(cells, ValidatorPlaces(node.memory, cells), now)


NAME = "open-main15"
BLOCKS = 120


def test_blocks_operations_times_and_validators_of_a_recorded_chain_are_counted(tmp_path: Path) -> None:
    with node_memory() as node, Chain.open(tmp_path, network_of(NAME), clock=lambda: 0.0) as chain:
        meter = metered(node, lambda: chain.head_time + 2.5)
        meter.observe(chain)
        advance(chain, NAME, BLOCKS)
        meter.sample()
        values = node.values()
        head = chain.globals
        missed = {str(name): float(chain.validator(name).total_missed) for name in chain.scheduled}  # type: ignore[union-attr]

    assert values[table.HEAD.name] == {(): [float(BLOCKS)]}
    assert values[table.IRREVERSIBLE.name] == {(): [float(head.last_irreversible_block_num)]}
    assert values[table.HEAD_AGE.name] == {(): [2.5]}
    assert values[table.BLOCKS_APPLIED.name] == {(): [float(BLOCKS)]}
    assert values[table.PARTICIPATION.name] == {(): [head.participation_count / 128]}
    assert sum(values[table.APPLY_TIME.name][()][:-1]) == BLOCKS
    assert 1 <= sum(values[table.COMMIT_TIME.name][()][:-1]) <= BLOCKS
    assert values[table.OPERATIONS_APPLIED.name]["real",][0] > 0
    assert values[table.OPERATIONS_APPLIED.name]["virtual",][0] > 0
    made = values[validators.VALIDATOR_BLOCKS.name]
    assert sum(numbers[0] for numbers in made.values()) <= BLOCKS
    assert {labels[0] for labels in made} == {"other", *missed}
    shown = values[validators.VALIDATOR_MISSED.name]
    assert {labels[0]: numbers[0] for labels, numbers in shown.items() if labels != ("other",)} == missed
    assert sum(numbers[0] for numbers in values[table.HARDFORK_VOTES.name].values()) == len(missed)


def test_a_change_of_branch_is_counted_by_its_depth(tmp_path: Path) -> None:
    with node_memory() as node, Chain.open(tmp_path, network_of(NAME), clock=lambda: 0.0) as chain:
        advance(chain, NAME, 30)
        meter = metered(node, lambda: 0.0)
        meter.observe(chain)
        chain.pop_block()
        numbers = node.values()[table.REORGANISATIONS.name][()]

    assert (numbers[0], sum(numbers[:-1]), numbers[-1]) == (1.0, 1.0, 1.0)


def test_every_slot_without_a_block_is_counted_also_before_the_first_block_after_a_start(tmp_path: Path) -> None:
    network = start_seven(tmp_path)
    with node_memory() as node:
        meter = metered(node, lambda: 0.0)
        meter.observe(network.chain)
        network.produce(skipped=3)
        network.produce(2)
        network.chain.pop_block()
        network.produce(skipped=2)
        numbers = node.values()[table.MISSED_SLOTS.name]
    network.chain.close()

    assert numbers == {(): [5.0]}


def test_a_block_that_is_refused_is_not_timed_as_an_applied_one(tmp_path: Path) -> None:
    with node_memory() as node, Chain.open(tmp_path, network_of(NAME), clock=lambda: 0.0) as chain:
        advance(chain, NAME, 3)
        block = chain.block_at(3)
        assert block is not None
        metered(node, lambda: 0.0).observe(chain)
        chain.push_block(block)
        times = node.values()[table.APPLY_TIME.name][()]

    assert sum(times[:-1]) == 0


def test_a_version_is_named_by_its_hardfork() -> None:
    assert hardfork_name(version_number(4, 1), MAINNET) == "15"
    assert hardfork_name(version_number(9, 9), MAINNET) == "unknown"
    assert hardfork_name(0, TESTNET) == "0"
