"""The check of a large imported state beside the node, which holds production back, and what follows where it fails."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ledgerd.chain.ledger.provenance import Provenance
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.node.datadir.state_files import NEW
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import SigningPermit
from ledgerd.node.parts.watching.recovery.unverified import AuditPart
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.snapshot.importing import audit
from ledgerd.snapshot.importing.build import build_state, read_snapshot
from ledgerd.snapshot.settings import Terms
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_NAME
from ledgerd.supervision.part import Supervisor
from tests.chain.networks import SMALL
from tests.node.contexts import context_of
from tests.node.parts.test_bootstrap import configured, in_time, serving, tree
from tests.node.parts.two_snapshots import Made


class WatchedSigning(SigningPermit):
    """Remembers whether it was ever forbidden."""

    was_forbidden = False

    def forbid(self, name: str, reason: str) -> None:
        super().forbid(name, reason)
        self.was_forbidden = True


class Outcome:
    """What came of a start."""

    def __init__(self) -> None:
        self.signing = WatchedSigning()
        self.supervisor = Supervisor()
        self.warned: list[tuple[str, ...]] = []
        self.provenance: Provenance | None = None
        self.is_renewed = False
        self.has_new = False

    def is_open(self, newer: asyncio.Event) -> bool:
        return bool(self.signing.refusal) and not newer.is_set() and self.supervisor.failure is None


def imported(data: Path, file: Path, monkeypatch: pytest.MonkeyPatch, sources: int = 1) -> None:
    """A state that is too large to be checked by its import."""
    with monkeypatch.context() as patch:
        patch.setattr(audit, "RECORDS_AT_ONCE", 0)
        terms = Terms(audits_later=True, sources=sources, checksum="77" * 32)
        build_state(data / STATE_FOLDER, read_snapshot(file), TESTNET, SMALL, terms)


def mint(data: Path) -> None:
    with Store.open(data / STATE_FOLDER, STORED_TABLES, space=SMALL) as store:
        with store.editing(found := store.at(ACCOUNT_BY_NAME, "viz")):
            found.balance += 1_000
        store.commit()


def started(data: Path, *folders: Path, **options: str) -> Outcome:
    """Start the part on a state, and wait until it has come to an end with it."""
    found = Outcome()

    async def main() -> None:
        async with serving(*folders) as ports:
            configuration = configured(data, ports, **options)
            chain = ChainPart(context_of(ChainPart, configuration))
            context = context_of(AuditPart, configuration, signing=found.signing)
            part, newer = AuditPart(context, chain), context.newer_state
            found.supervisor.add(part)
            found.supervisor.health.on_change.append(lambda status: found.warned.append(status.warnings))
            await chain.start()
            try:
                await part.start()
                while found.is_open(newer):  # noqa: ASYNC110 - one of three things ends it
                    await asyncio.sleep(0.01)
                found.provenance = await chain.run(lambda: chain.chain.provenance)
                found.is_renewed = newer.is_set()
            finally:
                await part.stop()
                await part.work.stop()
                await chain.stop()
            found.has_new = NEW in tree(data / STATE_FOLDER)

    in_time(main)
    return found


def test_production_waits_until_a_large_state_is_checked(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(tmp_path, made.older, monkeypatch)

    found = started(tmp_path)

    assert found.signing.was_forbidden
    assert found.signing.refusal == ""
    assert found.provenance is not None
    assert found.provenance.is_audited
    assert not found.is_renewed
    assert any("still being checked" in text for texts in found.warned for text in texts)
    assert "audited" not in tree(tmp_path / STATE_FOLDER)
    assert not started(tmp_path).signing.was_forbidden, "once is enough"


def test_one_source_alone_is_told(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported(tmp_path, made.older, monkeypatch)
    assert any("from one trusted peer alone" in text for text in started(tmp_path).warned[-1])


def test_two_sources_are_not(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported(tmp_path, made.older, monkeypatch, sources=2)
    assert not any("alone" in text for texts in started(tmp_path).warned for text in texts)


def test_a_state_that_fails_is_replaced_by_another_one(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    imported(tmp_path, made.older, monkeypatch)
    mint(tmp_path)

    found = started(tmp_path, made.newer.parent)

    assert "the imported state is refused: the state of the snapshot is not sound" in caplog.text
    assert found.is_renewed
    assert found.has_new
    assert found.signing.refusal
    assert "the supply is" in found.supervisor.health.down["imported_state"]


def test_a_state_that_fails_ends_a_node_without_trusted_peers(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(tmp_path, made.older, monkeypatch)
    mint(tmp_path)
    found = started(tmp_path)
    assert found.supervisor.failure is not None
    assert "Begin again with another snapshot" in str(found.supervisor.failure)


def test_a_state_that_was_made_from_blocks_needs_no_check(tmp_path: Path) -> None:
    found = started(tmp_path)
    assert not found.signing.was_forbidden
    assert found.warned == []
