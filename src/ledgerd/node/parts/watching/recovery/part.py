"""Recovery as a part of the node: takes a look every few seconds, and carries out what the rule decides."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from ledgerd.basics.durable import put_in_place
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.parts.bootstrap import FetchedState, WantedState, fetched_state
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.node.parts.peers import PeersPart
from ledgerd.node.parts.watching.recovery.rule import (
    Incident,
    Permissions,
    RecoveryLine,
    RecoveryStep,
    Verdict,
    WedgeRule,
)
from ledgerd.node.time_source import MICRO
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.snapshot.exchange.agreement import RefusedSources
from ledgerd.supervision.threads import in_thread
from ledgerd.supervision.work import Working

log = logging.getLogger(__name__)

CONFIRM_EVERY, MOST_CONFIRM_CHECKS = 5.0, 24
"""Two minutes for peers to answer."""

MOST_STATES = 4
"""Snapshots that are tried one after the other."""


async def replace_state(
    configuration: Configuration, chain: ChainPart, peers: PeersPart, sleep: Callable[[float], Awaitable[None]]
) -> str:
    """Build a better state beside ours; empty if one is ready, else why there is none."""
    refused = RefusedSources.none()
    for _ in range(MOST_STATES):
        head, needed = await chain.run(lambda: _present(chain))
        trusted = configuration.snapshot.trusted_peers
        state = await fetched_state(configuration, chain, trusted, WantedState(head, needed), refused)
        if state is None:
            return f"no trusted peer has a snapshot above block {head} that passes the checks"
        found = {"block": state.number, "id": state.head_id}
        if not await _is_confirmed(state, chain, peers, sleep):
            log.error("peers do not confirm block %(block)d %(id)s, the head of the snapshot", found)
            refused.add(state.fetched)
        elif await chain.run(lambda: chain.chain.head_number) >= state.number:
            refused.add(state.fetched)
        else:
            log.warning("peers confirm block %(block)d %(id)s, the head of the snapshot", found)
            return ""
        chain.files.drop_new()
    return f"none of {MOST_STATES} snapshots can be taken"


def _present(chain: ChainPart) -> tuple[int, tuple[int, str] | None]:
    """The number of the head, and the last irreversible block with its id, if there is one. After blocks were undone,
    the log may know a later one than the state.
    """
    opened = chain.chain
    number = max(opened.irreversible, opened.block_log.head_number)
    return opened.head_number, (number, opened.id_at(number).hex()) if number else None


async def _is_confirmed(
    state: FetchedState, chain: ChainPart, peers: PeersPart, sleep: Callable[[float], Awaitable[None]]
) -> bool:
    await chain.run(lambda: peers.confirm(state.number, BlockId(bytes.fromhex(state.head_id))))
    for _ in range(MOST_CONFIRM_CHECKS):
        await sleep(CONFIRM_EVERY)
        found = await chain.run(lambda: peers.is_confirmed)
        if found is not None:
            return found
    return False


FILE = "wedges.json"


def read_incidents(folder: Path) -> list[Incident]:
    path = folder / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Incident])
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as problem:
        log.warning("%(file)s cannot be read, and is begun again: %(reason)s", {"file": path, "reason": problem})
        return []


def write_incidents(folder: Path, incidents: list[Incident]) -> None:
    path = folder / FILE
    fresh = path.with_name(f"{FILE}.new")
    fresh.write_bytes(msgspec.json.encode(incidents))
    put_in_place(fresh, path)


CHECK_SECONDS = 5.0
HOLD = "wedge"


def permissions_of(configuration: Configuration) -> Permissions:
    has_peers = bool(configuration.snapshot.trusted_peers) and "snapshot" in configuration.application.plugins
    return Permissions(configuration.p2p.recovers, configuration.p2p.auto_resync and has_peers)


class RecoveryPart(NodePart):
    """Watches whether the node follows the network, and helps it out of a dead end."""

    def __init__(self, context: PartContext, chain: ChainPart, peers: PeersPart) -> None:
        super().__init__(context)
        self._chain = chain
        self._peers = peers
        self._rule: WedgeRule | None = None

    async def start(self) -> None:
        """Go on with the incident that an earlier run was in, if there is one."""
        incidents = await in_thread(read_incidents, self._chain.folder)
        self._rule = WedgeRule(incidents, permissions_of(self._configuration), self._steady())
        if self._rule.incident is not None:
            self._forbid_signing("the node was wedged when it stopped, and is not in step yet")
        self.work.keep("the watch for a dead end", self._keep_checking)

    async def _keep_checking(self, working: Working) -> None:
        while True:
            await self._time.sleep(CHECK_SECONDS)
            rule = self._rule
            if rule is not None and not self._newer_state.is_set():
                survey = await self._chain.run(self._peers.survey)
                if survey is not None:
                    verdict = rule.inspect(self._steady(), self._time.wall() // MICRO, survey)
                    await self._carry_out(rule, verdict)
            working()

    async def _carry_out(self, rule: WedgeRule, verdict: Verdict) -> None:
        """First nothing is signed any more, then it is said, then the step is on record, then it is taken."""
        self._forbid_signing(verdict.reason)
        _write(verdict.lines)
        if verdict.lines:
            await in_thread(write_incidents, self._chain.folder, rule.incidents)
        match verdict.step:
            case RecoveryStep.FORGET:
                await self._chain.run(self._forget)
            case RecoveryStep.GO_BACK:
                await self._chain.run(self._go_back)
            case RecoveryStep.FETCH:
                problem = await replace_state(self._configuration, self._chain, self._peers, self._time.sleep)
                if not problem:  # the step is over when the next start has the new state
                    self._newer_state.set()
                    return
                _write((rule.has_failed(problem),))
            case None:
                return
        rule.ended()
        await in_thread(write_incidents, self._chain.folder, rule.incidents)

    def _steady(self) -> float:
        return self._time.monotonic() / MICRO

    def _forbid_signing(self, reason: str) -> None:
        if reason:
            self._signing.forbid(HOLD, reason)
            self.work.set_down(HOLD, reason)
        elif self._rule is None or self._rule.incident is None:
            self._signing.allow(HOLD)
            self.work.set_up(HOLD)

    # -- on the thread of the chain

    def _forget(self) -> None:
        self._chain.chain.forget_branches()
        self._peers.ask_again()

    def _go_back(self) -> None:
        count = self._chain.chain.go_back()
        log.warning("%(count)d blocks above the irreversible one are undone, and fetched again", {"count": count})
        self._peers.ask_again()


def _write(lines: tuple[RecoveryLine, ...]) -> None:
    for line in lines:
        log.log(line.level, "%s", line.text)
