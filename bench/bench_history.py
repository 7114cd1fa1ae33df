"""The cost of a history: time during a replay, disk space, and speed of reading.

Each figure stands beside what it should be. Requests are made through the dispatcher, as a worker makes them, without
the network and without the cache of answers; `first` means that no operation of the answer was read before. Rates are
those of the design machine: a recovery of a signature, which takes 52 microseconds there, says how fast this one is.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import process_time

import lmdb

from bench.bench_api import DESIGN_RECOVERY
from bench.bench_chain import (
    TRANSFERS,
    network,
    packed_blocks,
    recovery_seconds,
    send_transfers,
    users,
    verdict,
)
from ledgerd.chain.ledger.events import Event, IrreversibleAdvanced
from ledgerd.chain.log.block_log import BlockLog
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.histories import History
from ledgerd.codec import codec_of
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.settings import HistorySettings
from ledgerd.history.store.tables import Tables
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.rpc.api.history.operation_history import ACCOUNT_HISTORY, OPERATION_HISTORY
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node, nothing_to_read
from ledgerd.rpc.link.link import Link
from ledgerd.state.files.disk import MAX_DATABASES
from tests.chain.networks import Network
from tests.chain.observing import CommitObserver
from tests.history.made_blocks import block_on, told

FULL_BLOCKS, EMPTY_BLOCKS = 30, 500
ENTRIES = 1_000_000
SPARSE = 50_000
OPERATIONS_A_BLOCK = 100
BLOCKS_A_COMMIT = 500
PAGE = 100
PAGES, ROUNDS = 80, 5

COST = 0.25
BYTES_AN_OPERATION = 60
PAGES_A_SECOND = 2_000
BLOCKS_A_SECOND = 4_000


def indexing_cost(folder: Path, blocks: list[bytes], first: int) -> float:
    """What the history takes of the time in which blocks behind the first few are applied, beside all else."""
    node, spent = Network(folder), 0.0
    with node.chain as chain, EmbeddedStore(folder / "history", HistorySettings(), chain.block_log) as store:

        def record(events: Sequence[Event]) -> None:
            nonlocal spent
            began = process_time()
            store.record(events)
            spent += process_time() - began

        chain.observe(CommitObserver(record))
        for packed in blocks[:first]:
            chain.push_block(codec_of(Block).decode(packed), commit=False).or_raise()
        chain.commit()
        started, spent = process_time(), 0.0
        for packed in blocks[first:]:
            chain.push_block(codec_of(Block).decode(packed), commit=False).or_raise()
        chain.commit()
        return spent / (process_time() - started - spent)


def bench_indexing() -> None:
    """Blocks of a hundred transfers, and near-empty ones."""
    for what in (f"blocks of {TRANSFERS} transfers", "near-empty blocks"):
        with network() as source, tempfile.TemporaryDirectory() as folder:
            names = users(source)
            first = source.chain.head_number
            if "transfers" in what:
                for round_ in range(FULL_BLOCKS):
                    send_transfers(source, names, round_)
                    source.produce()
            else:
                source.produce(EMPTY_BLOCKS)
            cost = indexing_cost(Path(folder), packed_blocks(source, 1), first)
        print(f"  indexing {what}: {cost:.3f} of the replay ({verdict(cost, COST)})")


def fill(folder: Path, entries: int = ENTRIES, operations_a_block: int = OPERATIONS_A_BLOCK) -> tuple[int, int]:
    """An account with so many entries, told by blocks of some operations; operations and blocks."""
    log = BlockLog.open(folder / STATE_FOLDER)
    previous, count, number, events = NO_BLOCK, 0, 0, []
    with EmbeddedStore(folder / "history", HistorySettings(), log) as store:
        while count < entries:
            number += 1
            block = block_on(previous, number, [[_transfer(number, place)] for place in range(operations_a_block)])
            log.append(number, block.packed)
            events.append(told(block))
            previous, count = block.id, count + operations_a_block
            if number % BLOCKS_A_COMMIT == 0 or count >= entries:
                log.sync()
                store.record([*events, IrreversibleAdvanced(number)])
                events.clear()
    log.close()
    return count, number


def _transfer(block: int, place: int) -> int:
    """The number of a transfer by alice that causes no virtual operation (`tests.history.made_blocks`)."""
    number = 5 * (1 + (block * OPERATIONS_A_BLOCK + place) % 4_000)
    while number % 11 == 0 or (1 + number) % 3 == 0:
        number += 5
    return number


def used_bytes(folder: Path) -> int:
    """What the history takes of the disk, pages that are free again left out."""
    with lmdb.open(str(folder / "history"), readonly=True, max_dbs=MAX_DATABASES) as environment:
        tables = Tables.open(environment, None, create=False)
        with environment.begin() as reading:
            found = [reading.stat(table) for table in tables]
    return sum(each["psize"] * (each["branch_pages"] + each["leaf_pages"] + each["overflow_pages"]) for each in found)


@contextmanager
def dispatcher(folder: Path) -> Iterator[Dispatcher]:
    """What answers in a worker, with nothing remembered."""
    with EmbeddedHistory.open(folder / "history", folder / STATE_FOLDER, HistorySettings()) as history:
        node = Node(TESTNET, nothing_to_read, Link(), {History: history})
        apis = (OPERATION_HISTORY, ACCOUNT_HISTORY)
        yield Dispatcher(apis, node, lambda: 0.0, cache=AnswerCache(0), limits=Limits())


def request(api: str, method: str, *arguments: object) -> bytes:
    """The body of a request."""
    return json.dumps({"jsonrpc": "2.0", "method": "call", "params": [api, method, arguments], "id": 1}).encode()


def rate(answer: Callable[[bytes], object], requests: list[bytes]) -> float:
    """Answers a second, if this were the design machine: the most of some rounds with requests of their own."""
    most, size = 0.0, len(requests) // ROUNDS
    for first in range(0, len(requests), size):
        recovery, started = recovery_seconds(), process_time()
        for body in requests[first : first + size]:
            answer(body)
        most = max(most, size / (process_time() - started) * min(recovery, recovery_seconds()) / DESIGN_RECOVERY)
    return most


def pages_of(account: str, last: int) -> list[bytes]:
    """Requests for pages from an entry downwards, none of them twice."""
    lasts = (last - each * PAGE for each in range(PAGES))
    return [request("account_history", "get_account_history", account, each, PAGE - 1) for each in lasts]


def show_rates(folder: Path, title: str, requests: list[bytes], wanted: int) -> None:
    """How fast requests are answered for the first time and again, when code and files are warm."""
    with dispatcher(folder) as served:
        for body in pages_of("alice", ENTRIES // 4)[:ROUNDS]:
            served.answer(body)
        served.answer(request("operation_history", "get_ops_in_block", 1, False))
        first = rate(served.answer, requests)
        again = rate(served.answer, requests[-ROUNDS:] * ROUNDS)
    print(f"  {title}: first {first:6,.0f}/s ({verdict(first, wanted, at_most=False)}), again {again:6,.0f}/s")


def bench_reading() -> None:
    """Pages of an account at its start, middle and end, and blocks, met for the first time and again."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        operations, blocks = fill(folder)
        used = used_bytes(folder) / operations
        print(f"  {operations:,} operations of two accounts: {used:.1f} bytes each ", end="")
        print(f"({verdict(used, BYTES_AN_OPERATION)})")
        for what, last in (("start", PAGES * PAGE), ("middle", ENTRIES // 2), ("end", ENTRIES - 1)):
            title = f"{PAGE} entries at the {what:6} of {ENTRIES:,}"
            show_rates(folder, title, pages_of("alice", last), PAGES_A_SECOND)
        numbers = [request("operation_history", "get_ops_in_block", blocks - each, False) for each in range(PAGES)]
        show_rates(folder, f"a block of {OPERATIONS_A_BLOCK} operations", numbers, BLOCKS_A_SECOND)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder, entries=SPARSE, operations_a_block=1)
        title = f"{PAGE} entries of as many blocks, of {SPARSE:,}"
        show_rates(folder, title, pages_of("alice", SPARSE - 1), PAGES_A_SECOND)


def main() -> None:
    """Print every figure."""
    bench_indexing()
    bench_reading()
