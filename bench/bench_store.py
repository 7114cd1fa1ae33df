"""What the state store costs: changes, blocks while syncing, a live commit, reads, and opening a large state.

`docs/state-store.md` explains the figures.
"""

from __future__ import annotations

import itertools
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from ledgerd.codec.types.numbers import Int16, Int64, UInt32, UInt64
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state import Entity, StateReader, Store, Table, ordered, unique
from ledgerd.state.store import CACHED_OBJECTS
from ledgerd.state.tables.keys import BOOL, NAME_TEXT, OWN_ID, TIME

RECOVERY = 52e-6
"""One signature recovery on the design machine, in seconds: the unit that figures are compared in."""

SMALL, LARGE = 1_000, 100_000
OPENED = 200_000
EDITS = 7
BATCH = 200
BLOCKS = 2_000
CHANGES, RUNS = 500, 20


class Holder(Entity):
    """About as much as an account."""

    name: AccountName = NO_NAME
    proxy: AccountName = NO_NAME
    recovery: AccountName = NO_NAME
    created: Time = 0
    updated: Time = 0
    next_withdrawal: Time = 0xFFFFFFFF
    energy: Int16 = 10_000
    balance: Int64 = 0
    symbol: UInt64 = 0
    shares: Int64 = 0
    delegated: Int64 = 0
    received: Int64 = 0
    rate: Int64 = 0
    withdrawn: Int64 = 0
    to_withdraw: Int64 = 0
    votes: UInt32 = 0
    sequence: UInt64 = 0
    bandwidth: Int64 = 0
    lifetime: Int64 = 0
    on_sale: bool = False
    on_auction: bool = False
    bid: Int64 = 0
    bidder: AccountName = NO_NAME


class Properties(Entity):
    """The one object that every block changes."""

    head: UInt32 = 0


HOLDERS = Table(Holder, number=1)
BY_NAME = unique(HOLDERS, "by_name", lambda each: (each.name,), (NAME_TEXT,))
BY_WITHDRAWAL = unique(HOLDERS, "by_withdrawal", lambda each: (each.next_withdrawal, each.id), (TIME, OWN_ID))
BY_SALE = ordered(HOLDERS, "by_sale", lambda each: (each.on_sale,), (BOOL,))
BY_AUCTION = ordered(HOLDERS, "by_auction", lambda each: (each.on_auction,), (BOOL,))
PROPERTIES = Table(Properties, number=0)
TABLES = (PROPERTIES, HOLDERS)


def fill(path: Path, count: int) -> None:
    """A state of so many holders."""
    with Store.open(path, TABLES) as store:
        store.create(PROPERTIES, Properties())
        for number in range(count):
            store.create(HOLDERS, Holder(name=AccountName(f"holder-{number}"), balance=number))
        store.commit()


def block(store: Store, number: int, count: int) -> None:
    """Seven objects edited, one of them changing its place, and four indexes looked into."""
    with store.begin() as session:
        properties = store.get(PROPERTIES, 0)
        with store.editing(properties):
            properties.head = number
        for turn in range(EDITS - 1):
            holder = store.at(BY_NAME, f"holder-{(number * 7919 + turn * 104_729) % count}")
            with store.editing(holder):
                holder.balance += 1
                if turn == 0:
                    holder.next_withdrawal = number + 28
        for index, bound in ((BY_WITHDRAWAL, (number,)), (BY_AUCTION, (True,)), (BY_SALE, (True,))):
            for due in store.scan(index, lower=(0,) if index is BY_WITHDRAWAL else bound, upper=bound):
                with store.editing(due):
                    due.next_withdrawal = 0xFFFFFFFF
        store.first(BY_WITHDRAWAL)
        session.push()
    store.irreversible(number - 20)


def sync(path: Path, count: int, *, is_warm: bool) -> tuple[float, float]:
    """Seconds for a block while syncing, without and with its part of the commits.

    At first the accounts are in memory, or on the disk.
    """
    with Store.open(path, TABLES) as store:
        for number in range(count if is_warm else 0):
            store.at(BY_NAME, f"holder-{number}")
        applying, start = 0.0, perf_counter()
        for number in range(1, BLOCKS + 1):
            applying -= perf_counter()
            block(store, number, count)
            applying += perf_counter()
            if number % BATCH == 0:
                store.commit()
        return applying / BLOCKS, (perf_counter() - start) / BLOCKS


def live(path: Path, count: int, blocks: int = 100) -> tuple[float, float]:
    """Seconds of our own and in all for a block that is committed at once."""
    with Store.open(path, TABLES) as store:
        used, start = os.times(), perf_counter()
        first = store.revision + 1
        for number in range(first, first + blocks):
            block(store, number, count)
            store.commit()
        spent = os.times()
        own = spent.user + spent.system - used.user - used.system
        return own / blocks, (perf_counter() - start) / blocks


def reads(path: Path, count: int) -> tuple[float, float, float]:
    """Seconds for a cold read by id, a cached one by name, and one by another process's reader."""
    ids = [number * 7919 % count for number in range(20_000)]
    with Store.open(path, TABLES) as store:
        cold = timed(lambda: [store.get(HOLDERS, each) for each in ids]) / len(ids)
        store.at(BY_NAME, "holder-1")
        cached = timed(lambda: [store.at(BY_NAME, "holder-1") for _ in ids]) / len(ids)
    with StateReader.open(path, TABLES) as reader:

        def snapshot(each: int) -> Holder:
            with reader.snapshot() as view:
                return view.get(HOLDERS, each)

        return cold, cached, timed(lambda: [snapshot(each) for each in ids]) / len(ids)


def changes(path: Path) -> tuple[float, float, float, float]:
    """Seconds for an edit, for a session with an edit that is undone, for a creation that is undone, and for asking an
    index whether anything is due when nothing is: each the best of several runs.
    """
    names = (AccountName(f"new-{number}") for number in itertools.count())
    with Store.open(path, TABLES) as store:
        holder = store.get(HOLDERS, 0)

        def edit() -> None:
            for _ in range(CHANGES):
                with store.editing(holder):
                    holder.balance += 1

        def edit_and_undo() -> None:
            for _ in range(CHANGES):
                with store.begin(), store.editing(holder):
                    holder.balance += 1

        def create_and_undo() -> None:
            with store.begin():
                for _ in range(CHANGES):
                    store.create(HOLDERS, Holder(name=next(names)))

        def ask() -> None:
            for _ in range(CHANGES):
                store.first(BY_WITHDRAWAL, upper=(1,))

        edit_cost, undo_cost, create_cost, ask_cost = (
            min(timed(work) for _ in range(RUNS)) / CHANGES for work in (edit, edit_and_undo, create_and_undo, ask)
        )
    return edit_cost, undo_cost, create_cost, ask_cost


def timed(work: Callable[[], object]) -> float:
    """Seconds of a piece of work."""
    start = perf_counter()
    work()
    return perf_counter() - start


def opening(path: Path) -> None:
    """Open a state, fill its cache, and print the time and the memory: run in a process of its own."""
    start = perf_counter()
    with Store.open(path, TABLES) as store:
        seconds = perf_counter() - start
        opened = memory()
        for each in range(CACHED_OBJECTS):
            store.get(HOLDERS, each)
        print(
            f"opening a state of {OPENED:,} accounts: {seconds * 1e3:.1f} ms, {opened} MB; "
            f"{memory()} MB with {CACHED_OBJECTS:,} of them in memory"
        )


def memory() -> int:
    """What this process holds, in megabytes."""
    held = Path("/proc/self/statm")
    if held.exists():
        return int(held.read_text().split()[1]) * resource.getpagesize() >> 20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 20


@contextmanager
def folder(count: int) -> Iterator[Path]:
    """A filled state that goes away afterwards."""
    path = Path(tempfile.mkdtemp(prefix="ledgerd-bench-"))
    try:
        fill(path, count)
        yield path
    finally:
        shutil.rmtree(path)


def main() -> None:
    """Print the figures."""
    costs = {}
    for count in (SMALL, LARGE):
        for is_warm in (False, True):
            with folder(count) as path:
                costs[count], cost = sync(path, count, is_warm=is_warm)
            print(
                f"syncing, {count:,} accounts {'in memory' if is_warm else 'on disk'}: {1 / cost:,.0f} blocks/s "
                f"({cost * 1e6:.0f} us, {cost / RECOVERY:.1f} recoveries a block)"
            )
    print(
        f"a block without its commit, at {LARGE:,} accounts in memory, costs "
        f"{costs[LARGE] / costs[SMALL]:.2f} of one at {SMALL:,}"
    )
    with folder(LARGE) as path:
        own, all_in = live(path, LARGE)
        print(f"live block with a durable commit: {own * 1e3:.2f} ms of our own, {all_in * 1e3:.2f} ms in all")
        edit, undo, create, ask = (seconds * 1e6 for seconds in changes(path))
        print(f"an edit {edit:.1f} us, a session with an edit and its undo {undo:.1f} us")
        print(f"a creation and its undo {create:.1f} us, finding nothing due {ask:.2f} us")
        cold, cached, snapshot = reads(path, LARGE)
        print(f"a cold read {cold * 1e6:.1f} us, a cached one by name {cached * 1e6:.2f} us")
        print(f"a snapshot with one read {snapshot * 1e6:.1f} us")
    with folder(OPENED) as path:
        code = f"from pathlib import Path; from bench.bench_store import opening; opening(Path({str(path)!r}))"
        subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own code


if __name__ == "__main__":
    main()
