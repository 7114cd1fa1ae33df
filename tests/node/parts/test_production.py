"""Production as a part of the node: what it shows of the doppelganger check."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.peers import PeersPart
from ledgerd.node.parts.production import ProductionPart
from ledgerd.node.time_source import MICRO, TimeSource
from ledgerd.producer.settings import LOADED_KEYS
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.supervision.part import Supervisor
from tests.chain.networks import SEVEN, VIZ, VIZ_KEY, start_seven
from tests.node.contexts import context_of


class FixedTime(TimeSource):
    """A clock that stands."""

    def __init__(self, second: int) -> None:
        super().__init__()
        self.second = second

    def wall(self) -> int:
        return self.second * MICRO


@pytest.fixture
def blocks(tmp_path: Path) -> list[Block]:
    (tmp_path / "node").mkdir()
    network = start_seven(tmp_path / "source", blocks=30)
    found = [*network.blocks()]
    network.chain.close()
    return found


def part_of(chain: ChainPart, configuration: Configuration, time: TimeSource) -> ProductionPart:
    """Production without peers."""
    peers = PeersPart(context_of(PeersPart, configuration, time), chain, MagicMock())
    return ProductionPart(context_of(ProductionPart, configuration, time), chain, peers, MagicMock())


@asynccontextmanager
async def producing(folder: Path, second: int, **more: str) -> AsyncIterator[tuple[ChainPart, Supervisor]]:
    async with production_part(folder, second, **more) as (chain, supervisor, _):
        yield chain, supervisor


@asynccontextmanager
async def production_part(
    folder: Path, second: int, **more: str
) -> AsyncIterator[tuple[ChainPart, Supervisor, ProductionPart]]:
    words = {
        "data-dir": str(folder),
        "chain": "testnet",
        "shared-file-size": "64M",
        "plugin": "validator",
        "validator": f'"{VIZ}"',
        **({} if "validator_signer" in more else {"private-key": VIZ_KEY.wif}),
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    configuration = read_configuration({name: [value] for name, value in words.items()}, folder)
    time, supervisor = FixedTime(second), Supervisor()
    chain = ChainPart(context_of(ChainPart, configuration, time, network=SEVEN))
    production = part_of(chain, configuration, time)
    supervisor.add(production)
    await chain.start()
    try:
        await production.start()
        yield chain, supervisor, production
    finally:
        await production.stop()
        await chain.stop()


def test_a_foreign_block_by_our_key_takes_production_down(tmp_path: Path, blocks: list[Block]) -> None:
    async def scene() -> None:
        async with producing(tmp_path / "node", blocks[-1].timestamp, doppelganger_check="true") as (part, supervisor):
            (warning,) = supervisor.health.warnings
            assert warning.startswith("doppelganger-check: no block is signed before 7 slots were watched")
            for block in blocks:
                await part.run(lambda block=block: part.chain.push_block(block).or_raise())  # type: ignore[misc]
            down = supervisor.health.down
            assert down["validator"].startswith(f"signing: DOPPELGANGER: another node signs with the key of {VIZ}")
            assert supervisor.health.warnings == ()

    asyncio.run(scene())


def test_without_the_option_nobody_watches(tmp_path: Path, blocks: list[Block]) -> None:
    async def scene() -> None:
        async with producing(tmp_path / "node", blocks[-1].timestamp) as (part, supervisor):
            for block in blocks:
                await part.run(lambda block=block: part.chain.push_block(block).or_raise())  # type: ignore[misc]
            assert (supervisor.health.down, supervisor.health.warnings) == ({}, ())

    asyncio.run(scene())


def test_key_files_are_read_again_while_the_node_runs(tmp_path: Path, blocks: list[Block]) -> None:
    """Keys of options stay; a file that cannot be read changes nothing."""
    first, second = PrivateKey(b"\1" * 32), PrivateKey(b"\2" * 32)
    folder = tmp_path / "node"
    file, loaded = folder / "signing.key", folder / LOADED_KEYS
    file.touch(0o600)
    file.write_text(first.wif + "\n")

    def told() -> set[str]:
        return set(loaded.read_text().split())

    def texts(*keys: PrivateKey) -> set[str]:
        return {public_key_text(key.public) for key in (VIZ_KEY, *keys)}

    async def scene() -> None:
        async with production_part(folder, blocks[-1].timestamp, private_key_file="signing.key") as (_, _, production):
            assert production.producer is not None
            assert told() == texts(first)
            file.write_text(f"{first.wif}\n{second.wif}\n")
            await production.read_keys_again()
            assert told() == texts(first, second)
            assert set(production.producer.settings.keys) == {VIZ_KEY.public, first.public, second.public}
            file.write_text("no key\n")
            await production.read_keys_again()
            assert told() == texts(first, second)
            file.write_text(second.wif)
            await production.read_keys_again()
            assert set(production.producer.settings.keys) == {VIZ_KEY.public, second.public}
            assert told() == texts(second)

    asyncio.run(scene())


def test_a_signer_that_is_away_is_a_warning_and_the_node_goes_on(tmp_path: Path, blocks: list[Block]) -> None:
    async def scene() -> None:
        place = f"unix:{tmp_path}/signer"
        async with producing(tmp_path / "node", blocks[-1].timestamp, validator_signer=place) as (part, supervisor):
            told = asyncio.Event()
            supervisor.health.on_change.append(lambda _: told.set())
            if not supervisor.health.warnings:
                await told.wait()
            (warning,) = supervisor.health.warnings
            assert warning == f"the signer at {place} signs nothing: it is away: No such file or directory"
            for block in blocks:
                await part.run(lambda block=block: part.chain.push_block(block).or_raise())  # type: ignore[misc]
            assert supervisor.health.down == {}
            assert supervisor.failure is None

    asyncio.run(scene())


def test_a_node_that_starts_again_in_its_process_has_the_keys_of_now(tmp_path: Path, blocks: list[Block]) -> None:
    """As with a newer state: its configuration was read before the key was added."""
    first, second = PrivateKey(b"\1" * 32), PrivateKey(b"\2" * 32)
    folder = tmp_path / "node"
    file = folder / "signing.key"
    file.touch(0o600)
    file.write_text(first.wif + "\n")

    async def scene() -> None:
        second_of_head = blocks[-1].timestamp
        async with production_part(folder, second_of_head, private_key_file="signing.key") as (chain, _, production):
            file.write_text(f"{first.wif}\n{second.wif}\n")
            await production.stop()
            asked = production._configuration  # noqa: SLF001 - what the process was started with
            again = part_of(chain, asked, FixedTime(second_of_head))
            Supervisor().add(again)
            await again.start()
            assert again.producer is not None
            assert second.public in again.producer.settings.keys
            await again.stop()

    asyncio.run(scene())
