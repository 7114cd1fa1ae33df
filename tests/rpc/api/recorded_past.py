"""Dispatchers that know the two history APIs, over recorded chains with their histories."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.histories import History
from ledgerd.codec.json.text import Json
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.settings import HistorySettings
from ledgerd.projections.reading import ProjectionReader
from ledgerd.rpc.api.history.history_api import HISTORY_API
from ledgerd.rpc.api.history.operation_history import ACCOUNT_HISTORY, OPERATION_HISTORY
from ledgerd.rpc.api.history.stream import Subscriptions
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node
from ledgerd.rpc.link.link import Link
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.views.reader import StateReader
from tests.chain.recorded_chains import network_of
from tests.history.histories import HISTORY_FOLDER
from tests.recorded import ANSWERED
from tests.rpc.api.serving import copy_followed


@contextmanager
def history_dispatcher(name: str, folder: Path, asked: History | None = None) -> Iterator[Dispatcher]:
    """What answers about the past of a recorded chain, as a worker does; from a history of its own, or another one."""
    copy_followed(name, ANSWERED[name], folder)
    state = folder / STATE_FOLDER
    log = BlockLogReader.open(state)
    history = EmbeddedHistory.open(folder / HISTORY_FOLDER, state, HistorySettings())
    with history, StateReader.open(state, STORED_TABLES) as reader, ProjectionReader(state) as kept:
        services: dict[type, object] = {
            KeptBlocks: KeptBlocks(log),
            History: asked or history,
            Subscriptions: Subscriptions(history),
        }
        node = Node(network_of(name), reader.snapshot, Link(), services, kept.snapshot)
        apis = (OPERATION_HISTORY, ACCOUNT_HISTORY, HISTORY_API)
        yield Dispatcher(apis, node, lambda: 0.0, cache=AnswerCache(0), limits=Limits())
    log.close()


def asked(dispatcher: Dispatcher, api: str, method: str, arguments: list[Json], number: int = 1) -> str:
    """The answer to a request."""
    request = {"jsonrpc": "2.0", "method": "call", "params": [api, method, arguments], "id": number}
    answer = dispatcher.answer(json.dumps(request).encode())
    assert isinstance(answer, bytes)
    return answer.decode("utf-8", "surrogateescape")


def without_places(answer: str) -> dict[str, Any]:
    """An answer without the places in a source that an error names."""
    parsed: dict[str, Any] = json.loads(answer)
    for entry in parsed.get("error", {}).get("data", {}).get("stack", ()):
        entry["context"] = {"level": entry["context"]["level"]}
    return parsed
