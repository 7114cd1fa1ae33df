"""The processes of plugins, as their node keeps them: started again with growing pauses, or parked with a reason.

Whatever becomes of them, the node goes on: it waits for none of them, and is as ready without them.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence

import msgspec

from ledgerd.basics.failures import reason_of
from ledgerd.basics.framing.frames import FrameFault, read_frame_of
from ledgerd.basics.printable import printable
from ledgerd.metrics.cells import Cells
from ledgerd.metrics.table import plugins as table
from ledgerd.plugins.declarations import PluginRefused
from ledgerd.plugins.messages import MOST_REPORT, PluginOrder, PluginReport, ServedApi, packed
from ledgerd.protocol.secrets import without_keys
from ledgerd.rpc.link.topics import PLUGIN_APIS
from ledgerd.supervision.processes import Child
from ledgerd.supervision.work import FAILURE_SECONDS, MOST_FAILURES, Restarts, Work

log = logging.getLogger(__name__)

START_SECONDS = 20.0
"""The longest time from the start of a process to its first report."""
ENDING_SECONDS = 5.0
LONGEST_REASON = 1_000
"""Characters of the reason why a process has ended."""

PublishToWorkers = Callable[[str, bytes], None]
"""Publishes a value under a topic to the API workers, and to later ones at their start."""


class NothingToDo(Exception):
    """A plugin has nothing to do here."""


class PluginProcess:
    """One plugin: its process, and what that says of itself."""

    def __init__(
        self,
        order: PluginOrder,
        command: Sequence[str],
        work: Work,
        changed: Callable[[], None],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = order.name
        self.starts = 0
        self.parked = ""
        """Why it is not started again before the node is."""
        self.report = PluginReport()
        self.is_there = False
        self._order = packed(order)
        self._command = command
        self._work = work
        self._changed = changed
        self._sleep = sleep
        self._restarts = Restarts()
        self._reached = 0
        """The position of an observer before its process was started: receiving the same blocks again is no
        progress.
        """

    @property
    def served(self) -> ServedApi | None:
        """The plugin's API, whether or not its process runs now; None if it has not reported one."""
        if self.report.api is None:
            return None
        is_there = self.is_there and not self.parked
        return ServedApi(
            self.name, self.report.api, self.report.port if is_there else 0, self.report.token if is_there else ""
        )

    async def run(self) -> None:
        while not self.parked:
            try:
                problem = await self._one_life()
            except NothingToDo as reason:
                log.info("the plugin %(plugin)s rests: %(reason)s", {"plugin": self.name, "reason": str(reason)})
                return
            except PluginRefused as refusal:
                self._park(str(refusal))
                return
            except Exception as fault:  # noqa: BLE001 - whatever a plugin brings about, the node goes on
                problem = reason_of(fault)
            pause = self._restarts.ended(self._work.now())
            if pause is None:
                self._park(f"it has failed {MOST_FAILURES} times in {FAILURE_SECONDS / 60:.0f} minutes: {problem}")
                return
            self._warn(f"the plugin {self.name} is down: {problem}", f", next start in {pause:g} s")
            await self._sleep(pause)

    async def _one_life(self) -> str:
        """Start the process and wait for its end; returns why it has ended."""
        child, ours = Child.on_socket(self._command)
        self.starts += 1
        self._reached = max(self._reached, self.report.position)
        self.report = msgspec.structs.replace(self.report, problem="", position=0)
        grace = 0.0
        try:
            return await self._read_reports(child, ours)
        except asyncio.CancelledError:
            grace = ENDING_SECONDS
            raise
        finally:
            ours.close()
            self.is_there = False
            self._changed()
            await child.stop(grace)

    async def _read_reports(self, child: Child, ours: socket.socket) -> str:
        reader, writer = await asyncio.open_connection(sock=ours)
        timeout = START_SECONDS
        try:
            writer.write(self._order)
            while True:
                async with asyncio.timeout(timeout):
                    frame = await read_frame_of(reader, MOST_REPORT)
                if frame is None:
                    break
                timeout = self._receive(msgspec.json.decode(frame, type=PluginReport))
        except ConnectionError:
            pass  # it has ended without reading its order
        except TimeoutError:
            return f"it did not answer for {timeout:g} seconds, and was killed"
        finally:
            writer.transport.abort()
        return self.report.problem or f"its process has ended with code {await child.stop(1)}"

    def _receive(self, report: PluginReport) -> float:
        if report.rests:
            raise NothingToDo(_bounded(report.rests))
        if report.refused:
            raise PluginRefused(_bounded(report.refused))
        if report.problem:
            self.report = msgspec.structs.replace(self.report, problem=_bounded(report.problem))
            return START_SECONDS
        was = self.report if self.is_there else PluginReport()
        known = report.api or self.report.api
        self.report = msgspec.structs.replace(
            report,
            api=known,
            port=report.port or was.port,
            token=report.token or was.token,
        )
        if not self.is_there:
            self.is_there = True
            self._changed()
        has_advanced = not report.behind or report.position > self._reached
        if report.works and has_advanced and not self._restarts.is_working:
            self._restarts.working(self._work.now())
            self._work.warn(self.name, "")
            log.info("the plugin %(plugin)s works", {"plugin": self.name})
        return max(1.0, min(report.timeout, 3600.0))

    def _park(self, reason: str) -> None:
        self.parked = reason
        self._changed()
        self._warn(f"the plugin {self.name} is parked until the node is started again: {reason}")

    def _warn(self, text: str, more: str = "") -> None:
        self._work.warn(self.name, text)
        self._work.log(f"{text}{more}")


def _bounded(text: str) -> str:
    return printable(without_keys(text))[:LONGEST_REASON]


async def loaded(order: PluginOrder, command: Sequence[str]) -> PluginReport:
    """The report of a process that has tried to load a plugin."""
    child, ours = Child.on_socket(command)
    reader, writer = await asyncio.open_connection(sock=ours)
    try:
        writer.write(packed(order))
        async with asyncio.timeout(START_SECONDS):
            frame = await read_frame_of(reader, MOST_REPORT)
        if frame is None:
            return PluginReport(refused="its process ends while it is loaded")
        return msgspec.json.decode(frame, type=PluginReport)
    except TimeoutError:
        return PluginReport(refused=f"it does not load within {START_SECONDS:g} seconds")
    except (OSError, FrameFault, msgspec.MsgspecError, UnicodeDecodeError) as fault:
        return PluginReport(refused=reason_of(fault))
    finally:
        writer.transport.abort()
        await child.stop()


class PluginProcesses:
    """The plugins of others that a node runs."""

    def __init__(
        self, orders: Iterable[PluginOrder], command: Sequence[str], work: Work, publish: PublishToWorkers
    ) -> None:
        self._work = work
        self._publish = publish
        self.processes = [PluginProcess(each, command, work, self._changed) for each in orders]

    def start(self) -> None:
        for each in self.processes:
            self._work.begin(each.run(), f"the plugin {each.name}")

    def _changed(self) -> None:
        self._publish(PLUGIN_APIS, msgspec.json.encode([each.served for each in self.processes if each.served]))

    def sample(self, cells: Cells) -> None:
        for each in self.processes:
            cells.gauge(table.PLUGIN_RUNNING, each.name).set(each.is_there)
            cells.gauge(table.PLUGIN_PARKED, each.name).set(bool(each.parked))
            cells.gauge(table.PLUGIN_BEHIND, each.name).set(each.report.behind)
            cells.counter(table.PLUGIN_STARTS, each.name).reach(each.starts)
