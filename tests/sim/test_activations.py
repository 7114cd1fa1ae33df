"""Networks whose nodes stand at hardfork 13, each in its own way, go on together past 14 and 15 (spec 10, section 8.3).

One has a data directory that the version before wrote, one begins with a snapshot, one with nothing. In the end all
have the same blocks and the same records.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.protocol.blocks.transaction import unsigned_transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.networks.parameters import TESTNET, ChainParameters
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.accounts import AccountCreate
from ledgerd.protocol.operations.accounts.agents import SetAgentPermission
from ledgerd.protocol.operations.markets.liquidity import PmLazyDeposit
from ledgerd.protocol.operations.markets.oracles import PmOracleRegister
from ledgerd.protocol.operations.money.transfers import Transfer, TransferToVesting
from ledgerd.protocol.operations.virtual import Hardfork
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.snapshot.file.export import Occasion, export
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.build import build_state
from ledgerd.state.objects.markets.bets import PM_BETS
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_DEPOSITS
from tests.chain.migrations.test_activation import FOUNDED, ROUND, planned, produce_round
from tests.chain.networks import GENESIS, SMALL, VIZ, VIZ_KEY, start_seven
from tests.chain.recorded_chains import network_of, open_chain, until_hardfork_13
from tests.chain.replays import copy_replayed, open_replayed
from tests.chain.same_state import assert_same_state
from tests.sim.market_grounds import INSURANCE, LIQUIDITY, open_market, place_bet
from tests.sim.node import Node
from tests.sim.records import SameRecords
from tests.sim.world import World
from tests.snapshot.recorded import recorded_file

SECONDS_A_BLOCK = 3
ORACLE, CREATOR, PLAYER, AGENT = (AccountName(name) for name in ("oracle", "creator", "player", "helper"))
STAKE = TransferToVesting(VIZ, VIZ, tokens(1_000_000_000))
AGENT_KEY = PrivateKey.from_password(AGENT, "active", "published")


class OnTestnet(Node):
    parameters = TESTNET
    genesis_time = 0


class OnMainnet(Node):
    """With mainnet's constants."""

    parameters = network_of("open-main15")
    genesis_time = 0


@pytest.fixture
def worlds() -> Iterator[list[World]]:
    made: list[World] = []
    yield made
    for world in made:
        world.close()


def begin(worlds: list[World], head: int, head_time: int) -> World:
    world = World(1, float(head_time + SECONDS_A_BLOCK))
    world.invariants = SameRecords(head)
    worlds.append(world)
    return world


def from_snapshot(folder: Path, file: bytes, network: ChainParameters) -> Path:
    """The data of a node that was given this file."""
    (folder / STATE_FOLDER).mkdir(parents=True)
    build_state(folder / STATE_FOLDER, Snapshot.from_bytes(file), network, SMALL)
    return folder


def hardforks_of(node: Node) -> list[tuple[int, int]]:
    """The hardforks that it has told of blocks that are on its chain, with the blocks."""
    applied = [each for block_id, told in node.applied.items() if node.chain.is_on_trunk(block_id) for each in told]
    found = [(each.operation.hardfork_id, each.block) for each in applied if isinstance(each.operation, Hardfork)]
    return sorted(each for each in found if each[0] > 13)


def send(world: World, name: str, *operations: Operation, key: PrivateKey = VIZ_KEY) -> None:
    """A transaction of a client of this node."""
    node = world.nodes[name]
    draft = unsigned_transaction(node.chain.head_id, int(world.now) + 60, operations)
    node.broadcast(draft.signed(node.parameters.chain_id, [key]))
    world.run_actions(name)


def create(name: AccountName) -> tuple[Operation, Operation]:
    """An account with the one key of these networks, and enough to play with."""
    authority = authority_of(VIZ_KEY.public)
    fee, share = tokens(1_000), shares(1_000_000_000)
    account = AccountCreate(fee, share, VIZ, name, authority, authority, authority, VIZ_KEY.public, "", NO_NAME, ())
    return account, Transfer(VIZ, name, tokens(100_000_000), "")


def play(world: World, names: tuple[str, ...]) -> None:
    """Bets, an agent's too, and a deposit, through several nodes."""
    turns: list[list[Operation]] = [
        [STAKE, *(operation for name in (ORACLE, CREATOR, PLAYER) for operation in create(name))],
        [
            PmOracleRegister(ORACLE, INSURANCE, 50, tokens(100), "", NO_NAME, NO_NAME, True, ()),
            PmLazyDeposit(VIZ, LIQUIDITY, ()),
            SetAgentPermission(PLAYER, AGENT, AGENT_KEY.public, ("pm_place_bet",), 0, (), ()),
        ],
        [open_market(CREATOR, ORACLE, int(world.now), betting_expiration=int(world.now) + 3_600,
                     result_expiration=int(world.now) + 7_200)],
        [place_bet(PLAYER, 0, 0, 1_000_000, is_binary=True)],
    ]  # fmt: skip
    for place, operations in enumerate(turns):
        send(world, names[place % len(names)], *operations)
        world.run(2 * SECONDS_A_BLOCK)
    send(world, names[0], place_bet(PLAYER, 0, 1, 2_000_000, is_binary=True), key=AGENT_KEY)


def assert_all_agree(world: World) -> None:
    assert len(world.heads()) == 1
    for node in world.nodes.values():
        store = node.chain.parts.store
        assert (store.count(PM_BETS), store.count(PM_LAZY_DEPOSITS)) == (2, 1), node.name
    compared = world.invariants.compared
    world.check_states()
    assert world.invariants.compared == compared + len(world.nodes)


def test_a_directory_and_a_snapshot_of_before_14_and_a_fresh_node_go_on_past_15(
    tmp_path: Path, worlds: list[World]
) -> None:
    """The snapshot is the reference's of that time; one validator produces."""
    folder = tmp_path / "ann"
    with open_replayed("open-2", 120, folder) as chain:
        head_time = chain.head_time
    world = begin(worlds, 120, head_time)
    world.add("ann", folder, {VIZ: VIZ_KEY}, kind=OnTestnet)
    begun = from_snapshot(tmp_path / "ben", recorded_file("open-2-120"), TESTNET)
    world.add("ben", begun, {}, ("ann",), kind=OnTestnet)
    world.add("zoe", tmp_path / "zoe", {}, ("ann", "ben"), kind=OnTestnet)
    assert [node.chain.head_number for node in world.nodes.values()] == [120, 120, 0]

    world.run(4 * SECONDS_A_BLOCK)
    play(world, ("ann", "ben"))
    world.calm(60)

    assert [hardforks_of(node) for node in world.nodes.values()] == [[(14, 121), (15, 122)]] * 3
    assert_all_agree(world)


@pytest.fixture
def mainnet(tmp_path: Path, worlds: list[World]) -> World:
    """Three nodes with 25 validators at block 314: the next one brings 14. Two have the blocks, one a snapshot; each
    produces.
    """
    names = [AccountName(f"w{number:02}") for number in range(1, 26)]
    folders, file = {name: tmp_path / name for name in ("ann", "ben")}, BytesIO()
    for folder in folders.values():
        copy_replayed("open-main15", 314, folder)
    with open_chain("open-main15", folders["ann"]) as chain:
        head, head_time = chain.block_at(chain.head_number), chain.head_time
        export(chain.parts.store, file, Occasion(chain.network.chain_id, 0, head))
    folders["cid"] = from_snapshot(tmp_path / "cid", file.getvalue(), OnMainnet.parameters)
    world = begin(worlds, 314, head_time)
    for place, (name, folder) in enumerate(folders.items()):
        keys = dict.fromkeys(names[place::3], VIZ_KEY)
        world.add(name, folder, keys, tuple(folders)[:place], kind=OnMainnet)
    return world


def run_until_all(world: World, height: int) -> None:
    """Until everybody has a block of this height."""
    while min(node.chain.head_number for node in world.nodes.values()) < height:
        world.run(0.5)


def test_two_rounds_of_votes_bring_both_through_forks_and_a_kill(
    mainnet: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever parts before a hardfork comes makes another block of it, and takes that back."""
    caplog.set_level(logging.CRITICAL)
    mainnet.split({"ann", "ben"}, {"cid"})
    mainnet.run(7 * SECONDS_A_BLOCK)
    parted = {name: node.chain.id_at(315) for name, node in mainnet.nodes.items()}
    assert parted["ann"] == parted["ben"] != parted["cid"]
    assert [hardforks_of(node) for node in mainnet.nodes.values()] == [[(14, 315)]] * 3
    mainnet.heal()
    mainnet.add("zoe", tmp_path / "zoe", {}, ("ann", "cid"), kind=OnMainnet)
    mainnet.calm(30)
    assert len(mainnet.heads()) == 1
    assert mainnet.invariants.switches > 0

    run_until_all(mainnet, 334)
    mainnet.split({"ann", "zoe"}, {"ben", "cid"})
    run_until_all(mainnet, 336)
    assert len({node.chain.id_at(336) for node in mainnet.nodes.values()}) == 2
    mainnet.crash("ann")
    mainnet.run(SECONDS_A_BLOCK)
    mainnet.restart("ann")
    mainnet.heal()
    mainnet.calm(60)
    play(mainnet, ("ann", "ben", "cid", "zoe"))
    mainnet.calm(60)

    assert [hardforks_of(node)[-2:] for node in mainnet.nodes.values()] == [[(14, 315), (15, 336)]] * 4
    assert_all_agree(mainnet)


class OfSeven(Node):
    """The time of 14 is far away, that of 15 has come."""

    parameters = planned(2 * GENESIS, GENESIS)


class Outdated(Node):
    """A program that does not know them."""

    parameters = until_hardfork_13(OfSeven.parameters)


def test_votes_for_15_bring_both_in_one_block_to_all_and_to_a_node_that_is_upgraded_later(
    tmp_path: Path, worlds: list[World]
) -> None:
    source = start_seven(tmp_path / "source", OfSeven.parameters, FOUNDED)
    world = begin(worlds, 0, source.chain.head_time)
    for name, kind in (("ann", OfSeven), ("ben", OfSeven), ("old", Outdated)):
        world.add(name, tmp_path / name, {}, tuple(world.nodes), kind=kind)
    for block in source.blocks():
        world.nodes["ann"].chain.push_block(block).or_raise()
    world.run(60)
    assert [node.chain.head_number for node in world.nodes.values()] == [FOUNDED] * 3

    for block in produce_round(source, voters=5):
        world.nodes["ann"].chain.push_block(block).or_raise()
        world.nodes["ann"].broadcast_block(block)
        world.run(SECONDS_A_BLOCK)
    both = FOUNDED + ROUND
    assert [node.chain.head_number for node in world.nodes.values()] == [both, both, both - 1]
    world.crash("old")
    world.nodes["old"].parameters = OfSeven.parameters
    world.crash("ben")
    world.restart("old")
    world.restart("ben")
    world.add("zoe", tmp_path / "zoe", {}, ("ann",), kind=OfSeven)
    world.run(120)

    assert [hardforks_of(node) for node in world.nodes.values()] == [[(14, both), (15, both)]] * 4
    assert world.heads() == {source.chain.head_id}
    for node in world.nodes.values():
        assert_same_state(source.chain, node.chain)
    source.chain.close()
