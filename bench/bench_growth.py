"""What grows with the number of accounts: a block, memory, a snapshot out and in, a start, and first reads.

`GROWTH=1000,14000 python -m bench growth` names the sizes. States and figures are kept in `GROWTH_FOLDER`
(`build/growth`), so that what was interrupted goes on: after `GROWTH_MINUTES` (30) nothing new is begun, and what runs
then is ended. Each figure is of a process of its own. Times are processor time, so that a busy machine and a slow disk
do not matter: of an import that of the processes beside it too, where processors are spare for them. What a snapshot
takes out and in by the clock (wall) says something on a quiet machine only. Memory is the most that was resident, pages
of the state's file included; each process beside an import has its own.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from math import nan
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF
from statistics import median
from time import monotonic, perf_counter, process_time

from bench.bench_api import request, seconds_once
from bench.bench_chain import TRANSFERS, block_cost, recovery_seconds, users
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.crypto.hashing import sha256
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api import APIS
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node
from ledgerd.rpc.link.link import Link
from ledgerd.snapshot.file.export import create
from ledgerd.snapshot.importing.build import MOST_PROCESSES, build_state, read_snapshot
from ledgerd.snapshot.settings import Terms
from ledgerd.state import StateReader
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.accounts.accounts import (
    ACCOUNT_AUTHORITIES,
    ACCOUNT_METADATA,
    ACCOUNTS,
    Account,
    AccountAuthority,
    AccountMetadata,
)
from ledgerd.supervision.processes import processors_beside
from tests.chain.networks import SMALL, Network, key_of

SIZES = "1000,14000,200000"
MINUTES = 30
BYTES_AN_ACCOUNT = 3_500
"""Of the disk: the state, its copy, and the snapshot between them."""

MOST_BYTES = 8 << 30
LIVE_BLOCKS, READS = 9, 100
ACCOUNTS_A_COMMIT = 20_000
SNAPSHOT, IMPORTED = "out.vizjson", "imported"

Figures = dict[str, float]


def member(number: int) -> AccountName:
    """The name of the account of an id."""
    return AccountName(f"member-{number}")


def key(number: int, role: int) -> PublicKey:
    """Bytes of a key that nobody has."""
    return PublicKey(b"\2" + sha256(f"{number} {role}".encode()))


def some(count: int, seed: int) -> list[AccountName]:
    """Accounts from everywhere in the state, none of them twice."""
    chosen = random.Random(seed).sample(range(count // 2, count), min(count // 2, 10 * READS))  # noqa: S311
    return [member(number) for number in chosen]


def opened(folder: Path) -> Network:
    """The chain with its hundred accounts that have tokens."""
    net = Network(folder)
    if not net.chain.head_number:
        net.start()
        users(net)
        net.produce()
    for number in range(TRANSFERS):
        name = AccountName(f"user-{number}")
        net.keys[name] = key_of(name)
    return net


def make(folder: Path, count: int) -> Figures:
    """Accounts up to this number, each with four keys of its own, written past the rules."""
    net = opened(folder)
    store, began = net.chain.parts.store, process_time()
    for number in range(store.next_id(ACCOUNTS), count):
        name, (memo, *rest) = member(number), [key(number, role) for role in range(4)]
        master, active, regular = map(authority_of, rest)
        store.create(ACCOUNTS, Account(name=name, memo_key=memo, created=1))
        row = AccountAuthority(account=name, master=master, active=active, regular=regular)
        store.create(ACCOUNT_AUTHORITIES, row)
        store.create(ACCOUNT_METADATA, AccountMetadata(account=name, json_metadata=f'{{"profile":"{name}"}}'))
        if number % ACCOUNTS_A_COMMIT == ACCOUNTS_A_COMMIT - 1:
            store.commit()
    store.commit()
    net.produce(50)
    net.chain.close()
    state = sum(each.stat().st_blocks * 512 for each in (folder / STATE_FOLDER).iterdir())
    return {"make_s": process_time() - began, "state_mb": state / 1e6}


def blocks(folder: Path, count: int) -> Figures:
    """A durable block of transfers to accounts that were not touched before, and near-empty ones."""
    net, times, reached = opened(folder), list[float](), some(count, 1)
    for round_ in range(LIVE_BLOCKS):
        for place in range(TRANSFERS):
            name = AccountName(f"user-{place}")
            to = reached[(round_ * TRANSFERS + place) % len(reached)]
            net.send(Transfer(name, to, tokens(1), f"{round_} {place}"), key=net.keys[name])
        packed = net.make().packed
        began = process_time()
        net.chain.push_block(codec_of(Block).decode(packed)).or_raise()
        times.append(process_time() - began)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = {"block_ms": median(times) * 1000, "block_mb": memory, "empty_recoveries": block_cost(net)}
    net.chain.close()
    return figures


def start(folder: Path, _count: int) -> Figures:
    """The chain opened, until it answers."""
    began = process_time()
    net = Network(folder)
    if not net.chain.active_keys(AccountName("user-7")):
        raise RuntimeError("an account is missing")
    spent = process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    net.chain.close()
    return {"start_s": spent, "start_mb": memory}


def write(folder: Path, _count: int) -> Figures:
    """A snapshot of the state."""
    began, wall, state = process_time(), perf_counter(), folder / STATE_FOLDER
    written = create(state, state, TESTNET, folder / SNAPSHOT, 1_800_000_000)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    spent, wall = process_time() - began, perf_counter() - wall
    return {"out_s": spent, "out_wall_s": wall, "out_mb": memory, "snapshot_mb": written.size / 1e6}


def processor_seconds() -> float:
    """Of this process and those that it has waited for."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def take_in(folder: Path, _count: int) -> Figures:
    """A state of that snapshot, with the checks that come before its use."""
    shutil.rmtree(folder / IMPORTED, ignore_errors=True)
    began, wall = processor_seconds(), perf_counter()
    snapshot, terms = read_snapshot(folder / SNAPSHOT), Terms(audits_later=True)
    processes = processors_beside(MOST_PROCESSES)
    build_state(folder / IMPORTED, snapshot, TESTNET, SMALL, terms, processes=processes)
    spent, wall = processor_seconds() - began, perf_counter() - wall
    shutil.rmtree(folder / IMPORTED)
    (folder / SNAPSHOT).unlink()
    memory, of_others = (resource.getrusage(of).ru_maxrss / 1024 for of in (RUSAGE_SELF, RUSAGE_CHILDREN))
    return {"in_s": spent, "in_wall_s": wall, "in_mb": memory, "beside_mb": of_others}


def read(folder: Path, count: int) -> Figures:
    """`get_accounts` of ten that were not asked for before, through the dispatcher; the state's pages are warm."""
    names = some(count, 2)
    with StateReader.open(folder / STATE_FOLDER, STORED_TABLES) as reader:
        node = Node(TESTNET, reader.snapshot, Link())
        served = Dispatcher(APIS, node, lambda: 0.0, cache=AnswerCache(0), limits=Limits())
        bodies = [request("database_api", "get_accounts", names[at : at + 10]) for at in range(0, len(names) - 9, 10)]
        spent = median([seconds_once(served, body) for body in bodies][5:])
    return {"reads_us": spent * 1e6, "read_recoveries": spent / recovery_seconds()}


STAGES: dict[str, Callable[[Path, int], Figures]] = {
    "make": make,
    "blocks": blocks,
    "start": start,
    "write": write,
    "take in": take_in,
    "read": read,
}
COLUMNS = (
    ("accounts", "accounts", "{:,.0f}"),
    ("state, MB", "state_mb", "{:,.0f}"),
    ("block of 100, ms", "block_ms", "{:.1f}"),
    ("near-empty, recoveries", "empty_recoveries", "{:.1f}"),
    ("memory, MB", "block_mb", "{:,.0f}"),
    ("start, s", "start_s", "{:.2f}"),
    ("memory then, MB", "start_mb", "{:,.0f}"),
    ("snapshot, MB", "snapshot_mb", "{:,.0f}"),
    ("out, s", "out_s", "{:.1f}"),
    ("wall", "out_wall_s", "{:.1f}"),
    ("out, MB", "out_mb", "{:,.0f}"),
    ("in, s", "in_s", "{:.1f}"),
    ("wall", "in_wall_s", "{:.1f}"),
    ("in, MB", "in_mb", "{:,.0f}"),
    ("beside, MB", "beside_mb", "{:,.0f}"),
    ("first read of 10, us", "reads_us", "{:,.0f}"),
    ("recoveries", "read_recoveries", "{:.1f}"),
)


def measured(folder: Path, count: int, deadline: float) -> Figures | None:
    """All figures of a size; nothing if time is over first."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "figures.json"
    figures: Figures = json.loads(kept.read_text()) if kept.exists() else {"accounts": count}
    done = set(json.loads((folder / "stages.json").read_text())) if (folder / "stages.json").exists() else set[str]()
    for stage in STAGES:
        if stage in done:
            continue
        words = [sys.executable, "-m", "bench.bench_growth", stage, str(folder / "chain"), str(count)]
        try:
            said = subprocess.run(  # noqa: S603 - our own interpreter
                words, check=True, capture_output=True, text=True, timeout=max(1.0, deadline - monotonic())
            ).stdout
        except subprocess.TimeoutExpired:
            return None
        figures |= json.loads(said.splitlines()[-1])
        done.add(stage)
        kept.write_text(json.dumps(figures))
        (folder / "stages.json").write_text(json.dumps(sorted(done)))
    return figures


def main() -> None:
    """Print a table, a row for each size."""
    root = Path(os.environ.get("GROWTH_FOLDER", "build/growth"))
    deadline = monotonic() + 60 * float(os.environ.get("GROWTH_MINUTES", str(MINUTES)))
    print(f"| {' | '.join(title for title, _, _ in COLUMNS)} |")
    print(f"|{'---|' * len(COLUMNS)}")
    for count in map(int, os.environ.get("GROWTH", SIZES).split(",")):
        needed = count * BYTES_AN_ACCOUNT
        if needed > MOST_BYTES:
            print(f"{count:,} accounts need about {needed >> 20:,} MB: more than are allowed")
            continue
        figures = measured(root / str(count), count, deadline)
        if figures is None:
            print(f"time is over at {count:,} accounts: the same command goes on from there")
            return
        print(f"| {' | '.join(form.format(figures.get(name, nan)) for _, name, form in COLUMNS)} |", flush=True)


if __name__ == "__main__":
    made = STAGES[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps(made))
