"""The check of an imported state that is too large for the import itself; one that fails is replaced."""

from __future__ import annotations

import asyncio
import logging

from ledgerd.basics.durations import MINUTE
from ledgerd.chain.ledger.provenance import Provenance
from ledgerd.node.parts.bootstrap import WantedState, fetched_state
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.protocol.errors import OperatorError
from ledgerd.snapshot.agreement import RefusedSources
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.job import Audit
from ledgerd.snapshot.jobs import done
from ledgerd.supervision.work import Sleep, Working

log = logging.getLogger(__name__)

HOLD = "audit"
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
        warnings = list(provenance.told(head))
        for text in warnings:
            log.warning("%s", text)
        self.work.warn("snapshot", "; ".join(warnings))
        if not provenance.is_audited:
            reason = f"the imported state of block {provenance.number} is still being checked"
            self._signing.forbid(HOLD, reason)
            self.work.warn(HOLD, reason)
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
            self._signing.allow(HOLD)
            self.work.warn(HOLD, "")
        await asyncio.Event().wait()

    def _record_audited(self) -> None:
        self._chain.chain.note_audited()

    async def _replace(self, provenance: Provenance, problem: str) -> None:
        """Ask trusted peers for another state until one has it; without such peers the node ends."""
        log.critical("the imported state is refused: %(reason)s", {"reason": problem})
        self.work.set_down(HOLD, problem)
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
