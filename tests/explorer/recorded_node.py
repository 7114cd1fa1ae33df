"""A node that stands at the last block of a recorded chain: every API of it, asked in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.histories import History
from ledgerd.client.envelope import ErrorAnswer, NodeCall, packed, parsed, request_of, result_of
from ledgerd.client.pool import NodeAway, NodePool
from ledgerd.explorer.node.following import HeadFollower
from ledgerd.explorer.node.watch import ChainWatch
from ledgerd.explorer.pages.answering import PageMaker, PageReply, PageRequest
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.settings import HistorySettings
from ledgerd.projections.reading import ProjectionReader
from ledgerd.rpc.api import APIS
from ledgerd.rpc.api.database_api.globals import Storage
from ledgerd.rpc.api.history.history_api import HISTORY_API
from ledgerd.rpc.api.history.operation_history import ACCOUNT_HISTORY, OPERATION_HISTORY
from ledgerd.rpc.api.history.stream import Subscriptions
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.blocks.records import BlockRecords
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.views.reader import StateReader
from tests.chain.recorded_chains import network_of
from tests.history.histories import HISTORY_FOLDER
from tests.recorded import ALL_CHAINS
from tests.rpc.api.serving import NoMain, copy_followed

EVERY = (*APIS, OPERATION_HISTORY, ACCOUNT_HISTORY, HISTORY_API)


class RecordedNode(NodePool):
    """Answers from a recorded chain, without a connection."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        super().__init__("http://127.0.0.1:1")
        self._dispatcher = dispatcher
        self.away = ""
        self.asked: list[NodeCall] = []

    async def ask(self, *calls: NodeCall, asker: str = "") -> Sequence[Any]:  # noqa: ARG002 - the pool has it
        if self.away:
            raise NodeAway(self.away)
        self.asked += calls
        return [self._one(each) for each in calls]

    def _one(self, call: NodeCall) -> Any:
        answer = self._dispatcher.answer(packed(request_of(0, call)))
        assert isinstance(answer, bytes), call
        try:
            return result_of(parsed(answer), 0)
        except ErrorAnswer as error:
            return error


class RecordedExplorer:
    """An explorer of a recorded chain, three seconds after its last block."""

    def __init__(self, node: RecordedNode) -> None:
        self.node = node
        self.watch = ChainWatch()
        self.follower = HeadFollower(node, self.watch)
        self.clock = 0.0
        asyncio.run(self.follower.refresh())
        self.clock = self.watch.head_seconds + 3.0
        self.answering = PageMaker(node, self.watch, lambda: self.clock)

    def reply(self, address: str, code: str = "en", **cookies: str) -> PageReply:
        path, _, query = address.partition("?")
        return asyncio.run(self.answering.answer(PageRequest(path, query, cookies, code)))

    def page(self, address: str, code: str = "en") -> str:
        """The text of a page that has to be there."""
        reply = self.reply(address, code)
        assert reply.status == 200, (address, reply.status, reply.headers, reply.body.decode()[:3000])
        return reply.body.decode()

    def ask(self, api: str, method: str, *arguments: object) -> Any:
        (found,) = asyncio.run(self.node.ask(NodeCall(api, method, arguments)))
        assert not isinstance(found, ErrorAnswer)
        return found


@contextmanager
def node_over(name: str, folder: Path) -> Iterator[RecordedNode]:
    """A node over the folder of a chain."""
    state = folder / STATE_FOLDER
    log = BlockLogReader.open(state)
    history = EmbeddedHistory.open(folder / HISTORY_FOLDER, state, HistorySettings())
    with history, StateReader.open(state, STORED_TABLES) as reader, ProjectionReader(state) as kept:
        services: dict[type, object] = {
            KeptBlocks: KeptBlocks(log),
            BlockRecords: BlockRecords(folder),
            Storage: Storage(state),
            History: history,
            Subscriptions: Subscriptions(history),
        }
        node = Node(network_of(name), reader.snapshot, NoMain(), services, kept.snapshot)
        yield RecordedNode(Dispatcher(EVERY, node, lambda: 0.0, cache=AnswerCache(0), limits=Limits()))
    log.close()


@contextmanager
def recorded_explorer(name: str, folder: Path) -> Iterator[RecordedExplorer]:
    """An explorer of a recorded chain at its last block."""
    copy_followed(name, ALL_CHAINS[name], folder)
    with node_over(name, folder) as node:
        yield RecordedExplorer(node)


def names_of(explorer: RecordedExplorer) -> list[str]:
    """Every account of the chain."""
    found: list[str] = explorer.ask("database_api", "lookup_accounts", "", 1000)
    return found
