"""The past of a chain, fetched from a plain web server beside, proven and put in its place: what a user waits for.

`ARCHIVE_BLOCKS=1000000 python -m bench archive` does it with a million near-empty blocks.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bench.bench_chain import verdict
from ledgerd.archive.fetching import Fetch
from ledgerd.archive.known import KnownBlocks
from ledgerd.archive.sealed import ArchivedBlocks
from ledgerd.archive.web import WebArchive
from ledgerd.archive.writer import ArchiveWriter
from ledgerd.chain.log.rolling import RollingBlockLog, RollingBlockLogReader
from ledgerd.protocol.blocks.block import Block, merkle_root
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName

BLOCKS = int(os.environ.get("ARCHIVE_BLOCKS", "100000"))
FULL_BLOCKS, TRANSACTIONS = 300, 300
RANGE = 10_000
BLOCKS_A_SECOND = TRANSACTIONS_A_SECOND = 20_000
SIGNATURE = Signature(b"\x1f" + bytes(range(64)))


def chain_of(count: int, transactions: int) -> Iterator[Block]:
    """Blocks that follow one another, with so many transactions each, of which no two are alike."""
    previous = BlockId(bytes(20))
    for number in range(1, count + 1):
        made = tuple(transfers(number, transactions))
        root = merkle_root([each.merkle_digest for each in made])
        block = Block(previous, 1_800_000_000 + 3 * number, "validator", root, (), SIGNATURE, made)
        yield block
        previous = block.id


def transfers(number: int, count: int) -> Iterator[Transaction]:
    """Transactions of one transfer each, for a block."""
    one = AccountName("alice")
    for place in range(count):
        transfer = Transfer(one, AccountName(f"bob-{place}"), tokens(1 + place), f"payment {number}")
        yield Transaction(number & 0xFFFF, place, 1_800_000_000 + 3 * number, (transfer,), (), (SIGNATURE,))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A plain web server in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as plug:
        port = plug.getsockname()[1]
    words = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(folder)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - ours
        try:
            for _ in range(100):
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def seconds_to_fetch(folder: Path, count: int, transactions: int) -> tuple[float, float]:
    """How long it takes until all blocks are in their places, and the time of the processor in that."""
    others, ours = folder / "others", folder / "ours"
    writer, log = ArchiveWriter(others, RANGE), RollingBlockLog.open(folder)
    for block in chain_of(count + 1, transactions):
        if block.number <= count:
            writer.append(block.number, block.packed)
        else:
            writer._seal()  # noqa: SLF001 - the last range of the chain is not full
            log.append(block.number, block.packed)
    for each in (writer, log):
        each.close()
    reader = RollingBlockLogReader.open(folder)
    reader.earlier = past = ArchivedBlocks(ours)
    with served(others) as url, closing(reader), closing(past):
        began, worked = time.perf_counter(), time.process_time()
        with closing(WebArchive(url, RANGE)) as source:
            reached = Fetch(ours, KnownBlocks(reader), source).run()
        spent = time.perf_counter() - began, time.process_time() - worked
    if reached != 1:
        raise SystemExit(f"only the blocks from {reached} on were fetched")
    return spent


def show(what: str, count: int, spent: tuple[float, float], limit: int, unit: str) -> None:
    """Print a rate beside what it should be."""
    waited, worked = spent
    rate = count / waited
    print(
        f"  {what}: {rate:,.0f} {unit}/s  ({verdict(rate, limit, at_most=False)}), "
        f"{worked / count * 1e6:.1f} us of the processor each"
    )


def main() -> None:
    """Print the two rates."""
    with tempfile.TemporaryDirectory() as place:
        spent = seconds_to_fetch(Path(place), BLOCKS, 0)
    show(f"{BLOCKS} near-empty blocks fetched and proven", BLOCKS, spent, BLOCKS_A_SECOND, "blocks")
    with tempfile.TemporaryDirectory() as place:
        spent = seconds_to_fetch(Path(place), FULL_BLOCKS, TRANSACTIONS)
    what = f"{FULL_BLOCKS} blocks of {TRANSACTIONS} transfers"
    show(what, FULL_BLOCKS * TRANSACTIONS, spent, TRANSACTIONS_A_SECOND, "transactions")
