"""The shadow of this node as a part: the process that compares it with another, and what the node makes of its record.

Nothing waits for it but, with `shadow-required`, the signing of blocks.
"""

from __future__ import annotations

import asyncio
import os
import time
from functools import partial
from typing import NoReturn

from ledgerd.metrics.cells import Cells
from ledgerd.metrics.table import shadow as table
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.clients.beside import ProcessPart, own_addresses
from ledgerd.node.parts.clients.webserver import WebserverPart
from ledgerd.node.parts.context import PartContext
from ledgerd.node.parts.watching.meters import MetersPart
from ledgerd.node.parts.watching.metrics import MetricsPart
from ledgerd.node.workers.beside.shadow_worker import ShadowArguments
from ledgerd.protocol.errors import OperatorError
from ledgerd.rpc.http.connection import Speech
from ledgerd.rpc.link.topics import SHADOW_GATE, packed_topic
from ledgerd.rpc.workers import endpoints_of
from ledgerd.shadow.gate import GateReport, SigningGate
from ledgerd.shadow.keeping.record import ShadowRecord, read_override, read_record, record_file
from ledgerd.shadow.settings import FOLDER, MEBIBYTE, ShadowOrder, SnapshotTask
from ledgerd.supervision.processes import PIPE, Child, module_command
from ledgerd.supervision.threads import in_thread
from ledgerd.supervision.work import Working

SHADOW_WORKER = "ledgerd.node.workers.beside.shadow_worker"
LOOK_SECONDS = 0.25
"""The pause between two reads of the shadow's record: a tick of the producer."""
REPORT_SECONDS = 1.0

SHOWN_OPTIONS = (
    *("chain", "plugin", "dlt-block-log-max-blocks", "skip-virtual-ops", "history-count-blocks"),
    *("history-start-block", "history-whitelist-ops", "history-blacklist-ops", "webserver-thread-pool-size"),
)
"""Options that a bundle shows: those that change answers, and no other."""

STATE_OPTIONS = (
    *("data-dir", "config-file", "chain", "plugin", "shared-file-dir", "shared-file-size", "inc-shared-file-size"),
    *("min-free-shared-file-size", "snapshot-dir", "block-archive-dir", "snapshot-pm-legacy-residual"),
)
"""Options with which a state of this node is made from its blocks, as by `ledgerd state --at`."""


class ShadowPart(ProcessPart):
    """Compares this node with another."""

    def __init__(
        self, context: PartContext, chain: ChainPart, webserver: WebserverPart, meters: MetersPart, metrics: MetricsPart
    ) -> None:
        super().__init__(context)
        configuration = context.configuration
        self._options = configuration.shadow
        self._url = self._options.url or ""
        self._chain = chain
        self._webserver, self._metrics = webserver, metrics
        self._speeches = [each.speech for each in endpoints_of(configuration.webserver)]
        self._log_format = configuration.application.log_format
        self._folder = self._data_dir / FOLDER
        self._record: ShadowRecord | None = None
        self._reported: GateReport | None = None
        self._began = time.time()
        self.gate = SigningGate(self._options.most_behind, time.time)
        if self._url and self._options.required:
            self._signing.ask(self.refusal)
        meters.on_main.append(lambda made: partial(self._sample, made.cells))

    async def start(self) -> None:
        self._began = time.time()
        await in_thread(partial(self._folder.mkdir, parents=True, exist_ok=True))
        await self.look()
        self.work.keep("the process that compares", self._compare)
        self.work.keep("the check of its record", self._watch)
        self.work.keep("what its page says of signing", self._report)

    def order(self) -> ShadowOrder:
        at = own_addresses(self._speeches, self._webserver)
        given = {each.option.name: list(each.shown) for each in self._configuration.settings}
        shown = {name: " ".join(given[name]) for name in given if name in SHOWN_OPTIONS}
        options = self._options
        ours = f"http://{at.get(Speech.HTTP) or at[Speech.BOTH]}"
        snapshots = None if options.snapshots is None else self._task(options.snapshots, given)
        return ShadowOrder(ours, self._url, str(self._folder), options.rate, options.processor, shown, snapshots)

    def _task(self, theirs: str, given: dict[str, list[str]]) -> SnapshotTask:
        options = self._options
        node = {name: given[name] for name in given if name in STATE_OPTIONS}
        ours = str(self._configuration.snapshot.directory.absolute())
        return SnapshotTask(
            theirs,
            ours,
            node | {"data-dir": [str(self._data_dir.absolute())]},
            seconds=options.snapshots_hours * 3_600,
            most_bytes=options.snapshots_most_mib * MEBIBYTE,
            processor=options.processor,
        )

    async def _compare(self, working: Working) -> None:
        child = Child.start(module_command(SHADOW_WORKER), stdin=PIPE, has_own_session=True)
        await self._run(child, ShadowArguments(self.order(), os.getpid(), self._log_format), working)

    async def _watch(self, working: Working) -> NoReturn:
        while True:
            await self.look()
            working()
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        """Read the files of the process, and tell the operator of what has changed."""
        problem = ""
        try:
            self._record = await in_thread(partial(read_record, record_file(self._folder, self._url)))
        except OperatorError as damaged:
            self._record, problem = None, str(damaged)
        self.gate.update(self._record, await in_thread(partial(read_override, self._folder)))
        self.work.warn("record", problem)
        self._warn()

    async def _report(self, working: Working) -> NoReturn:
        """A task of its own: the chain may be busy for minutes, and the check of the record must not wait for it."""
        while True:
            await self.report()
            working()
            await asyncio.sleep(REPORT_SECONDS)

    async def report(self) -> None:
        options = self._options
        refusal = await self._chain.run(self.refusal) if options.required else ""
        report = GateReport(options.required, options.most_behind, refusal)
        if report != self._reported:
            self._reported = report
            self._metrics.publish_retained(SHADOW_GATE, packed_topic(report))

    def _warn(self) -> None:
        record = self._record
        first = None if record is None else record.first
        apart = "" if record is None else record.apart
        kind = "consensus" if first is not None and first.is_of_consensus else "answers"
        self.work.warn(
            "difference",
            "" if first is None else f"a difference of {kind} to {self._url}: ledgerd shadow report {first.file}",
        )
        problem = "" if record is None else record.snapshots.problem
        self.work.warn("snapshots", f"no snapshot of {self._url} was compared: {problem}" if problem else "")
        self.work.warn("apart", f"not compared with {self._url}: {apart}" if apart else "")
        is_overridden = self._options.required and self.gate.is_overridden
        self.work.warn("override", "blocks are signed whatever the shadow says" if is_overridden else "")

    def refusal(self) -> str:
        """Why nothing may be signed now; empty if it may. Called on the thread of the chain."""
        chain = self._chain.chain

        def id_at(number: int) -> str:
            if number == chain.head_number:
                return chain.head_id.hex()
            block = chain.block_at(number)
            return "" if block is None else block.id.hex()

        return self.gate.refusal(chain.head_number, id_at)

    def _sample(self, cells: Cells) -> None:
        record = self._record or ShadowRecord()
        age = time.time() - (record.equal.at or self._began) if self._url else 0.0
        cells.gauge(table.SHADOW_AGE).set(max(0.0, age))
        cells.gauge(table.SHADOW_DIFFERENCES, "consensus").set(record.of_consensus)
        cells.gauge(table.SHADOW_DIFFERENCES, "answers").set(record.of_answers)
        cells.gauge(table.SHADOW_EQUAL_BLOCK).set(record.equal.number)
        cells.gauge(table.SHADOW_DOUBTFUL).set(record.doubtful)
        cells.counter(table.SHADOW_QUESTIONS).rise_to(record.questions)
        cells.counter(table.SHADOW_BLOCKS).rise_to(record.blocks)
        cells.counter(table.SHADOW_SWEEPS).rise_to(record.sweeps)
        counts = record.snapshots
        cells.counter(table.SHADOW_SNAPSHOTS).rise_to(counts.compared)
        cells.counter(table.SHADOW_SNAPSHOT_RECORDS).rise_to(counts.records)
        cells.gauge(table.SHADOW_SNAPSHOT_BLOCK).set(counts.block)
        cells.gauge(table.SHADOW_SNAPSHOT_EQUAL_BLOCK).set(counts.equal)
        cells.gauge(table.SHADOW_SNAPSHOT_DOUBTFUL).set(counts.doubtful)
        cells.gauge(table.SHADOW_SNAPSHOT_FAILED).set(bool(counts.problem))
