"""The validator guard in a node: its updates become transactions, and the block with one is noticed."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.parts.production import ProductionPart
from ledgerd.node.parts.validators.guard import GuardPart
from ledgerd.node.runtime import Runtime
from ledgerd.node.time_source import MICRO, TimeSource
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.operations.validators import ValidatorUpdate
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import BOB, VIZ, VIZ_KEY, Network, key_of
from tests.node.contexts import context_of

if TYPE_CHECKING:
    from ledgerd.node.parts.peers import PeersPart
    from ledgerd.protocol.blocks.transaction import Transaction

WATCHED = AccountName("watched")
SIGNING, ACTIVE = key_of(BOB), key_of(WATCHED)
URL = "https://watched.test"


class FixedTime(TimeSource):
    """A clock that stands at the head of the chain."""

    def __init__(self) -> None:
        super().__init__()
        self.second = 0

    def wall(self) -> int:
        return self.second * MICRO


def blocks_of_validator_without_key(folder: Path) -> list[Block]:
    """A chain on which `watched` is a validator whose key is gone."""
    source = Network(folder)
    source.start()
    source.create_account(WATCHED, ACTIVE)
    source.produce(2)
    source.send(ValidatorUpdate(WATCHED, URL, SIGNING.public), key=ACTIVE)
    source.produce(2)
    source.send(ValidatorUpdate(WATCHED, URL, NULL_KEY), key=ACTIVE)
    source.produce(2)
    blocks = [source.chain.block_at(number) for number in range(1, source.chain.head_number + 1)]
    source.chain.close()
    return [block for block in blocks if block is not None]


class Heard(logging.Handler):
    """Waits for words in the log of the guard."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()
        logging.getLogger("ledgerd.node.parts.validators.guard").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        if self._words in record.getMessage():
            self._loop.call_soon_threadsafe(self._event.set)

    async def wait(self) -> None:
        await asyncio.wait_for(self._event.wait(), 60)
        logging.getLogger("ledgerd.node.parts.validators.guard").removeHandler(self)


class GuardedNode:
    """A node with a guard, whose chain and time are moved by hand."""

    def __init__(self, folder: Path, blocks: list[Block], name: str = "validator-guard-validator") -> None:
        entry = json.dumps([WATCHED, SIGNING.wif, ACTIVE.wif])
        words = {
            "data-dir": [str(folder)],
            "chain": ["testnet"],
            "shared-file-size": ["64M"],
            "plugin": ["validator_guard"],
            "validator-guard-shutdown-grace": ["1"],
            name: [entry],
        }
        self.time = FixedTime()
        self.time.second = blocks[-1].timestamp
        self.runtime = Runtime(read_configuration(words, folder), self.time)
        self.blocks = blocks

    def push_all(self) -> None:
        chain = self.runtime.chain.chain
        for block in self.blocks:
            chain.push_block(block, commit=False).or_raise()
        chain.commit()

    def make_block(self) -> Block:
        """The next block of the only validator that has a key, with what waits for one."""
        chain = self.runtime.chain.chain
        slot = next(n for n in range(1, 9) if chain.scheduled_at(n) == VIZ)
        block = chain.generate_block(chain.slot_time(slot), VIZ, VIZ_KEY)
        self.time.second = block.timestamp
        chain.push_block(block).or_raise()
        return block

    def waiting(self) -> list[ValidatorUpdate]:
        """The updates of validators that wait for a block."""
        pending = self.runtime.chain.chain.waiting
        return [each for one in pending for each in one.operations if isinstance(each, ValidatorUpdate)]

    def key_of_watched(self) -> bytes:
        validator = self.runtime.chain.chain.validator(WATCHED)
        assert validator is not None
        return bytes(validator.signing_key)


@pytest.mark.parametrize("name", ["validator-guard-validator", "witness-guard-witness"])
def test_a_key_that_is_gone_is_given_back(tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str) -> None:
    node = GuardedNode(tmp_path / "node", blocks_of_validator_without_key(tmp_path / "source"), name)
    chain = node.runtime.chain

    async def run() -> None:
        await node.runtime.chain.start()
        await chain.run(node.push_all)
        await node.runtime.part(GuardPart).start()
        assert await chain.run(node.waiting) == [ValidatorUpdate(WATCHED, URL, SIGNING.public)]
        confirmation = Heard("CONFIRMED restoration for 'watched' in block #")
        await chain.run(node.make_block)
        assert await chain.run(node.key_of_watched) == SIGNING.public
        await confirmation.wait()
        await node.runtime.part(GuardPart).stop()
        assert "no peers, so nobody would hear" in caplog.text
        await node.runtime.chain.stop()
        await node.runtime.stop()

    with caplog.at_level(logging.INFO):
        asyncio.run(run())

    assert "validator_guard: 'watched' has null signing key on-chain" in caplog.text
    for key in (SIGNING, ACTIVE):
        assert key.wif not in caplog.text


class Listening:
    """A peer that hears every transaction, for as long as it stays."""

    def __init__(self) -> None:
        self.heard: list[Transaction] = []
        self.count = 1

    def broadcast_transaction(self, transaction: Transaction) -> None:
        self.heard.append(transaction)


def test_a_stop_tells_the_peers_that_the_validators_are_off(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    node = GuardedNode(tmp_path / "node", blocks_of_validator_without_key(tmp_path / "source")[:-2])
    chain, peers = node.runtime.chain, Listening()
    production = cast("ProductionPart", SimpleNamespace(clock=node.time.wall))
    context = context_of(GuardPart, node.runtime.configuration)
    part = GuardPart(context, chain, cast("PeersPart", peers), production)

    async def run() -> None:
        await chain.start()
        await chain.run(node.push_all)
        assert await chain.run(node.key_of_watched) == SIGNING.public
        await part.start()
        await part.stop()
        await chain.stop()
        await node.runtime.stop()

    with caplog.at_level(logging.INFO):
        asyncio.run(run())

    (heard,) = peers.heard
    assert heard.operations == (ValidatorUpdate(WATCHED, URL, NULL_KEY),)
    assert heard.expiration == node.time.second + 1 + 120
    assert "switching off watched before the stop" in caplog.text


def test_a_guard_without_validators_or_switched_off_does_nothing(tmp_path: Path) -> None:
    entry = json.dumps([WATCHED, SIGNING.wif, ACTIVE.wif])
    without = {"data-dir": [str(tmp_path)], "plugin": ["validator_guard"], "chain": ["testnet"]}
    off = {**without, "validator-guard-validator": [entry], "validator-guard-enabled": ["false"]}
    for words in (without, off):
        runtime = Runtime(read_configuration(words, tmp_path))

        async def run(runtime: Runtime = runtime) -> None:
            await runtime.start()
            assert len(runtime.part(GuardPart).work) == 0
            assert runtime.stop_seconds == 0
            await runtime.stop()

        asyncio.run(run())


def test_the_settings_are_those_of_the_options(tmp_path: Path) -> None:
    words = {
        "data-dir": [str(tmp_path)],
        "validator-guard-validator": [json.dumps([WATCHED, SIGNING.wif, ACTIVE.wif])],
        "validator-guard-interval": ["0"],
        "validator-guard-disable": ["7"],
        "validator-guard-disable-max": ["2"],
        "validator-guard-shutdown-grace": ["4"],
        "validator-guard-disable-on-shutdown": ["no"],
        "enable-stale-production": ["true"],
    }

    settings = read_configuration(words, tmp_path).validator_guard

    assert settings.watched[WATCHED] == (SIGNING, ACTIVE)
    assert (settings.interval, settings.disable, settings.disable_max, settings.shutdown_grace) == (1, 7, 2, 4)
    assert settings.allows_stale
    assert not settings.disable_on_shutdown
    assert SIGNING.wif not in repr(settings)
    assert ACTIVE.wif not in repr(settings)
