"""Parts that hold production back while the state is not verified: an import too large to be checked at once, or a
provisional state (`assume-valid`), which goes back to the last verified point if a valid block shows it wrong.
"""

from __future__ import annotations

import asyncio
import logging

from ledgerd.basics.durations import MINUTE
from ledgerd.chain.chain import Chain
from ledgerd.chain.forks.outcome import Outcome
from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.ledger.provenance import Provenance
from ledgerd.node.parts.bootstrap import WantedState, fetched_state
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import OperatorError
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.exchange.agreement import RefusedSources
from ledgerd.snapshot.importing.job import Audit
from ledgerd.snapshot.importing.jobs import done
from ledgerd.supervision.threads import in_thread
from ledgerd.supervision.work import Sleep, Working

log = logging.getLogger(__name__)

AUDIT_HOLD, ASSUMPTION_HOLD = "audit", "assume-valid"
COPY = "audited"


class AuditPart(NodePart):
    """Checks an imported state that was not checked by its import, and warns of where it came from."""

    def __init__(
        self,
        context: PartContext,
        chain: ChainPart,
        *,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        super().__init__(context)
        self._chain = chain
        self._sleep = sleep
        self._provenance = Provenance(0)

    async def start(self) -> None:
        provenance, head = await self._chain.run(lambda: (self._chain.chain.provenance, self._chain.chain.head_number))
        if provenance is None:
            return
        warnings = list(provenance.warnings(head))
        for text in warnings:
            log.warning("%s", text)
        self.work.warn("snapshot", "; ".join(warnings))
        if not provenance.is_audited:
            reason = f"the imported state of block {provenance.number} is still being checked"
            self._signing.forbid(AUDIT_HOLD, reason)
            self.work.warn(AUDIT_HOLD, reason)
            self._provenance = provenance
            self.work.keep("the check of the imported state", self._audit)

    async def _audit(self, working: Working) -> None:
        files, chain, provenance = self._chain.files, self._configuration.application.chain, self._provenance
        log.info(
            "checking the imported state of block %(block)d; no blocks are made before the end",
            {"block": provenance.number},
        )
        working()
        try:
            audited = await done(Audit(str(files.folder), str(files.folder / COPY), chain))
        except SnapshotError as problem:
            await self._replace(provenance, str(problem))
        else:
            log.info("the imported state is sound, as of block %(block)d", {"block": audited.number})
            await self._chain.run(self._record_audited)
            self._signing.allow(AUDIT_HOLD)
            self.work.warn(AUDIT_HOLD, "")
        await asyncio.Event().wait()

    def _record_audited(self) -> None:
        self._chain.chain.record_audit()

    async def _replace(self, provenance: Provenance, problem: str) -> None:
        """Ask trusted peers for another state until one has it; without such peers the node ends."""
        log.critical("the imported state is refused: %(reason)s", {"reason": problem})
        self.work.set_down(AUDIT_HOLD, problem)
        options = self._configuration.snapshot
        if not options.trusted_peers:
            self.work.fail(
                OperatorError(f"the imported state is refused: {problem}. Begin again with another snapshot")
            )
            return
        refused = RefusedSources({bytes.fromhex(provenance.checksum)}, set())
        while True:
            state = await fetched_state(self._configuration, self._chain, options.trusted_peers, WantedState(), refused)
            if state is not None:
                log.warning("the node begins again with the state of block %(block)d", {"block": state.number})
                self._newer_state.set()
                return
            minutes = max(1, options.stalled_sync_timeout_minutes)
            log.warning(
                "no trusted peer has another snapshot; they are asked again in %(minutes)d minutes",
                {"minutes": minutes},
            )
            await self._sleep(minutes * MINUTE)


class AssumptionPart(NodePart, Observer):
    """Keeps the node from signing until the chain has the block of `assume-valid`."""

    def __init__(self, context: PartContext, chain: ChainPart) -> None:
        super().__init__(context)
        self._chain = chain
        self._changed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_reported = False

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._chain.attach(self._observe)
        assumption = await self._chain.run(lambda: self._chain.chain.assumption)
        if assumption is None:
            return
        reason = f"the state is provisional until the chain has block {assumption.number}, which is assumed to be valid"
        self._signing.forbid(ASSUMPTION_HOLD, reason)
        self.work.set_down(ASSUMPTION_HOLD, reason)
        log.warning("%(reason)s: signatures of transactions up to it are not checked", {"reason": reason})
        self.work.keep(ASSUMPTION_HOLD, self._wait)

    def _observe(self, chain: Chain) -> None:
        self._is_reported = chain.assumption is None
        if not self._is_reported:
            chain.observe(self)

    def pushed(self, _block: Block, _outcome: Outcome) -> None:
        chain = self._chain.chain
        if not self._is_reported and (chain.assumption is None or chain.is_assumption_refuted):
            self._is_reported = True
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._changed.set)

    async def _wait(self, working: Working) -> None:
        working()
        while True:
            await self._changed.wait()
            self._changed.clear()
            is_over, is_refuted, banned = await self._chain.run(self._check)
            if is_refuted:
                log.critical(
                    "a valid block came in the place of the one that is assumed to be valid: the node goes back to "
                    "the last verified block"
                )
                await in_thread(self._chain.verified.begin_going_back, banned)
                self._newer_state.set()
                await asyncio.Event().wait()
            if is_over:
                break
        await in_thread(self._chain.verified.forget)
        log.info("the chain has the block that is assumed to be valid: the state is not provisional any more")
        self._signing.allow(ASSUMPTION_HOLD)
        self.work.set_up(ASSUMPTION_HOLD)
        await asyncio.Event().wait()

    def _check(self) -> tuple[bool, bool, tuple[str, ...]]:
        chain = self._chain.chain
        if chain.assumption is None:
            chain.commit()
        return chain.assumption is None, chain.is_assumption_refuted, self._chain.verified.banned()
