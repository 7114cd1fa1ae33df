"""Today's program opens what each release has written, and goes on with it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from ledgerd.archive.sealed import ArchivedBlocks
from ledgerd.chain.chain import Chain
from ledgerd.history.webhooks.position import read_position
from ledgerd.node.datadir.origin import StateOrigin
from ledgerd.producer.signing.double_sign import LastSigned
from ledgerd.projections.following import follow
from ledgerd.signer.folder import SignerFolder
from ledgerd.signer.rule import SigningRule
from ledgerd.wallet.keys.wallet_file import WalletFile
from scripts.keep_release import (
    CHAIN,
    HEAD,
    HOOK,
    KEY,
    LABEL,
    PASSWORD,
    WATCHED,
    digest_of,
    runtime_of,
)
from tests.chain.recorded_chains import advance, exported_state, open_chain
from tests.history.histories import closed_view, followed, view_of, whole_history
from tests.projections.test_following import all_of_them, rows_of
from tests.recorded import recorded_blocks
from tests.signer.headers import KEY as SIGNING_KEY
from tests.signer.headers import NAME, at, header_of
from tests.upgrades.kept_releases import RELEASES, unpack

ON = HEAD + 40
"""The chain goes on up to here."""
BUSY = ("viz", "committee")
T = TypeVar("T")


class Release:
    """What a release has written, and what was true of it."""

    def __init__(self, folder: Path, facts: dict[str, Any]) -> None:
        self.folder = folder
        self.facts = facts
        self.node = folder / "node"

    def run(self, job: Callable[[Chain], T]) -> tuple[T, StateOrigin]:
        """Start its node, do something on its chain, and stop it."""
        runtime = runtime_of(self.node)

        async def run() -> tuple[T, StateOrigin]:
            await runtime.start()
            try:
                return await runtime.chain.run(lambda: job(runtime.chain.chain)), runtime.chain.origin
            finally:
                await runtime.stop()

        return asyncio.run(run())


@pytest.fixture(params=RELEASES)
def release(request: pytest.FixtureRequest, tmp_path: Path) -> Release:
    return Release(tmp_path, unpack(request.param, tmp_path))


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Chain, dict[str, list[Any]]]]:
    """The chain as today's program has it without an upgrade, with its projections, and its histories."""
    folder = tmp_path_factory.mktemp("straight") / "chain"
    folder.mkdir()
    with open_chain(CHAIN, folder) as chain, followed(chain, folder) as store:
        follow(chain, all_of_them())
        advance(chain, CHAIN, ON)
        with view_of(store, folder) as view:
            histories = {name: whole_history(view, name) for name in BUSY}
        yield chain, histories


def test_its_node_goes_on_as_if_it_had_always_been_of_today(
    release: Release, straight: tuple[Chain, dict[str, list[Any]]], caplog: pytest.LogCaptureFixture
) -> None:
    def go_on(chain: Chain) -> tuple[str, str, dict[str, Any], list[list[str]]]:
        begun, digest = chain.head_id.hex(), digest_of(chain)
        chain.pop_block()  # what it takes to undo a block is kept too
        chain.forget_waiting()
        advance(chain, CHAIN, ON)
        return begun, digest, exported_state(chain), rows_of(chain)

    with caplog.at_level(logging.INFO):
        (begun, digest, state, rows), origin = release.run(go_on)

    assert (begun, digest) == (release.facts["head id"], release.facts["state"])
    assert origin is StateOrigin.PRESENT
    assert "begins after block" not in caplog.text
    chain, histories = straight
    assert state == exported_state(chain)
    assert rows == rows_of(chain)
    with closed_view(release.node) as view:
        assert {name: whole_history(view, name) for name in BUSY} == histories
    assert all(map(len, histories.values()))


def test_its_signer_refuses_another_block_for_what_it_has_signed(release: Release) -> None:
    slot = int(release.facts["signed slot"])
    with SignerFolder(release.folder / "signer") as signer:
        keys = {SIGNING_KEY.public: SIGNING_KEY}
        rule = SigningRule(keys, [NAME], signer.record, has_stopped_cleanly=signer.has_stopped_cleanly)
        judged = [rule.judge(SIGNING_KEY.public, header_of(slot - 3 * back, 7), at(slot)) for back in range(2)]

    assert [each.signature for each in judged] == [None, None]
    assert "on the way" in judged[0].reason
    assert "was signed last" in judged[1].reason
    chain_id = bytes.fromhex(release.facts["chain id"])
    assert "was signed here already" in LastSigned(release.node, chain_id).refusal(slot, slot)


def test_its_wallet_opens_with_its_password(release: Release) -> None:
    contents = WalletFile.open(release.folder / "wallet", PASSWORD).read()

    assert [(each.key, each.label) for each in contents.keys] == [(KEY, LABEL)]
    assert contents.watched == (WATCHED,)


def test_its_archive_and_the_position_of_a_webhook_are_read(release: Release) -> None:
    sealed = HEAD - 1
    blocks = dict(ArchivedBlocks(release.node / "archive").scan(1, sealed))

    assert tuple(blocks.values()) == recorded_blocks(CHAIN)[:sealed]
    assert read_position(release.node / "position.json") == HOOK
