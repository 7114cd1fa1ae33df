"""Recorded chains of ours with everything beside them that the APIs read, and dispatchers over them."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.history.settings import HistorySettings
from ledgerd.projections import following
from ledgerd.projections.custom_protocols import CustomProtocols
from ledgerd.projections.key_references import KeyReferences
from ledgerd.projections.markets.records import MarketRecords
from ledgerd.projections.reading import ProjectionReader
from ledgerd.rpc.api import APIS
from ledgerd.rpc.api.database_api.globals import Storage
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.blocks.records import FILE_NAME, BlockRecorder, BlockRecords
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node, OpenView
from ledgerd.rpc.describe.openrpc import recorded_examples
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.views.empty import EmptyView
from ledgerd.state.views.reader import StateReader
from tests.additions import answer_with_additions
from tests.chain.ledgers import close_all, kept_beside
from tests.chain.recorded_chains import network_of, open_chain
from tests.chain.replays import copy_replayed, keep_replay
from tests.history.histories import HISTORY_FOLDER, followed
from tests.recorded import CHAINS, FOLDER

_REFUSAL = '{"jsonrpc":"2.0","error":'
_ORIGIN = re.compile(
    r'("context":\{"level":"[a-z]+"),"file":"[^"]*","line":\d+,"method":"[^"]*","hostname":"[^"]*",'
    r'"thread_name":"[^"]*","timestamp":"[^"]*"\}'
)

FOLLOWED = "-followed"
"""The kind of replays in which plugins have followed the chain."""


class NoMain:
    """No test here has a main process."""

    async def ask(self, topic: str, _payload: bytes) -> bytes:
        raise AssertionError(topic)

    async def events(self, topic: str) -> AsyncGenerator[bytes, None]:
        raise AssertionError(topic)
        yield b""


@contextmanager
def followed_chain(name: str, folder: Path) -> Iterator[Chain]:
    """A chain that keeps what the plugins keep."""
    recorder = BlockRecorder(folder)
    with open_chain(name, folder) as chain:
        follow(chain, recorder)
        yield chain
    recorder.close()


@contextmanager
def chain_with_history(name: str, folder: Path) -> Iterator[Chain]:
    """A chain that keeps what the plugins keep, the histories of accounts, and balances."""
    with followed_chain(name, folder) as chain, followed(chain, folder, HistorySettings(balances=True)):
        yield chain


def copy_followed(name: str, height: int, folder: Path) -> None:
    """Fill a folder with a recorded chain at a height, what the plugins keep, and the histories of accounts."""
    copy_replayed(name, height, folder, FOLLOWED, chain_with_history)


def keep_followed(name: str, height: int, folder: Path) -> None:
    """Let others begin with such a chain, which stands at a height, and with what the chain alone has in its folder."""
    keep_replay(name, height, folder, FOLLOWED)
    keep_replay(name, height, folder, without=(HISTORY_FOLDER, FILE_NAME))


def follow(chain: Chain, recorder: BlockRecorder) -> None:
    project_for_plugins(chain)
    chain.observe(recorder)


def project_for_plugins(chain: Chain) -> None:
    """Keep what the plugins keep beside its state."""
    following.follow(chain, [KeyReferences(), CustomProtocols(), MarketRecords()])


@contextmanager
def dispatcher_over(name: str, folder: Path) -> Iterator[Dispatcher]:
    """What answers from a chain's folder, as a worker does."""
    state = folder / STATE_FOLDER
    with StateReader.open(state, STORED_TABLES) as reader, ProjectionReader(state) as kept:
        yield from _dispatching(name, folder, reader.snapshot, kept.snapshot)


@contextmanager
def dispatcher_within(chain: Chain, name: str, folder: Path) -> Iterator[Dispatcher]:
    """What answers from a chain that is open, with the changes of the transactions that wait for a block."""
    kept = following.projections_of(chain) or EmptyView()
    yield from _dispatching(name, folder, lambda: nullcontext(chain.parts.ledger.store), lambda: nullcontext(kept))


def _dispatching(name: str, folder: Path, reading: OpenView, projections: OpenView) -> Iterator[Dispatcher]:
    state = folder / STATE_FOLDER
    log = BlockLogReader.open(state)
    services: dict[type, object] = {
        KeptBlocks: KeptBlocks(log),
        BlockRecords: BlockRecords(folder),
        Storage: Storage(state),
    }
    node = Node(network_of(name), reading, NoMain(), services, projections)
    yield Dispatcher(APIS, node, lambda: 0.0, cache=AnswerCache(0), limits=Limits())
    log.close()


def asking(dispatcher: Dispatcher) -> Callable[..., Any]:
    """A function of an API, a method and arguments that gives the whole answer as JSON."""

    def ask(api: str, method: str, *arguments: object) -> Any:
        request = {"jsonrpc": "2.0", "method": "call", "params": [api, method, list(arguments)]}
        answer = dispatcher.answer(json.dumps(request).encode())
        assert isinstance(answer, bytes)
        return json.loads(answer)

    return ask


@contextmanager
def answers_of(ledger: Ledger, folder: Path) -> Iterator[Callable[..., Any]]:
    """What a ledger made by hand in a folder answers, once it is complete."""
    ledger.store.commit()
    kept_beside(ledger).commit()
    close_all()
    state = folder / "state"
    with StateReader.open(state, STORED_TABLES) as reader, ProjectionReader(state) as kept:
        node = Node(ledger.network, reader.snapshot, NoMain(), projections=kept.snapshot)
        yield asking(Dispatcher(APIS, node, lambda: 0.0, cache=AnswerCache(0), limits=Limits()))


def recorded_api_answers(name: str, *files: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The requests of these files with their answers in today's form, but for those to the histories."""
    known = {api.name for api in APIS}
    for file in files:
        raw = lzma.decompress((FOLDER / name / f"{file}.jsonl.xz").read_bytes())
        for line in raw.decode("utf-8", "surrogateescape").splitlines():
            fact = json.loads(line)
            api, method, _ = fact["request"]["params"]
            if api in known:
                answer = fact["answer"]
                yield fact["request"], answer_with_additions(method, answer) if name in CHAINS else answer


def examples_that_differ(dispatcher: Dispatcher, chain: str, height: int) -> list[str]:
    """The examples of openrpc.json that were recorded there, and get another answer here."""
    different = []
    for name, example in recorded_examples().items():
        api, _, method = name.partition(".")
        if (example.chain, example.height) == (chain, height) and api in dispatcher.apis:
            params = ",".join(bytes(each).decode() for each in example.params)
            asked = f'{{"jsonrpc":"2.0","method":"call","params":["{api}","{method}",[{params}]],"id":1}}'
            wanted = f'{{"jsonrpc":"2.0","result":{bytes(example.result).decode()},"id":1}}'
            if dispatcher.answer(asked.encode()) != wanted.encode():
                different.append(name)
    return different


def without_origin(answer: str) -> str:
    """An answer without what no two nodes have alike of an error: where it came from, in which thread and when.

    The formats and values of the error stay, and in which order it passed its callers.
    """
    return _ORIGIN.sub(r"\1}", answer) if answer.startswith(_REFUSAL) else answer
