"""A node with 130,000 open markets and 2,000,000 bets: blocks, an import, memory, starts.

The state is written first (`market_rows`), in ten minutes at most. All of it takes 6 GB of the folder for temporary
files (`TMPDIR`).
What is measured, and how:

- Cost of a block: processor time of the thread that decodes and applies near-empty blocks, beside many markets and
  beside ten, in turns, and a tenth of the commit of ten blocks: medians of a hundred blocks. Accounts are the same.
- Snapshot: processor and wall time of the two commands, and the most memory of their own that they have had: pages of
  files do not count (`RssAnon`, looked at five times a second).
- The first block after the import: processor and wall time, with its commit.
- Start to first answer: wall time, and the processor time of the node and its workers; once more with the files out of
  the page cache.
- Memory after 1,000 blocks with ten operations each, while clients ask two workers: private memory of all processes,
  to which the target applies; and the same with the pages of the state's map that only one of them has read. Those are
  clean pages of a file, which the system drops when it needs room: with much of it free, most of the file may be there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from time import monotonic, process_time
from typing import NamedTuple

from bench.bench_chain import verdict
from bench.bench_node import dev, processor_seconds, start_of, tree
from bench.bench_settlement import FEW, show_growth
from bench.market_plan import Scale
from bench.market_rows import write_state
from bench.market_traffic import Traffic
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from tests.chain.networks import Network

WARM_UP = 45
"""Blocks, so that bets which wait for the end of an epoch are done with; then a fresh state is calm for a while."""
GENERATION_SECONDS = 600
FIRST_BLOCK_SECONDS = 0.100
START_SECONDS = 1.5
BLOCKS_OF_TRAFFIC = 1_000
PRIVATE_MEGABYTES = 700

PROGRAM = (sys.executable, "-c", "import sys; from ledgerd.cli import main; sys.exit(main())")


# -- blocks


def show_blocks(few: Path, many: Path, markets: int) -> None:
    """Blocks beside few markets and beside many, each with its bets."""
    nets = {FEW: Network(few), markets: Network(many)}
    for net in nets.values():
        net.produce(WARM_UP)
    show_growth(nets)
    for net in nets.values():
        net.chain.close()


# -- snapshots


class Run(NamedTuple):
    """What a command took."""

    seconds: float
    processor_seconds: float
    megabytes: float


def run(*words: str) -> Run:
    """Run a command to its end, and look at its memory meanwhile."""
    began, used, most = monotonic(), os.times(), 0
    process = subprocess.Popen([*PROGRAM, *words], stdout=subprocess.DEVNULL)  # noqa: S603 - our own program
    while process.poll() is None:
        most = max(most, anonymous_kilobytes(process.pid))
        time.sleep(0.2)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    after = os.times()
    processor = after.children_user + after.children_system - used.children_user - used.children_system
    return Run(monotonic() - began, processor, most / 1024)


def anonymous_kilobytes(process: int) -> int:
    """Memory of a process that is of no file; nothing where the system does not tell."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon:")), 0)


def show(title: str, run: Run, more: str = "") -> None:
    """A line for a command."""
    print(
        f"  {title:36} {run.processor_seconds:6.1f} s of processor time, {run.seconds:6.1f} s in all, "
        f"at most {run.megabytes:4.0f} MB{more}"
    )


def show_snapshot(folder: Path, taken: Path) -> None:
    """Export, import, and the first block on what was imported."""
    file = taken.with_suffix(".vizjson")
    network = ("--chain", "testnet")
    exported = run("snapshot", "export", str(file), "--data-dir", str(folder), *network)
    show("snapshot export", exported, f"; {file.stat().st_size / 1e6:.0f} MB on disk")
    show("snapshot import", run("snapshot", "import", str(file), "--data-dir", str(taken), *network))
    file.unlink()
    print(f"  size on disk after the import        {size_of(taken) / 1e6:.0f} MB")
    net = Network(taken)
    packed = net.make().packed
    began, processor = monotonic(), process_time()
    net.chain.push_block(codec_of(Block).decode(packed)).or_raise()
    processor, seconds = process_time() - processor, monotonic() - began
    met = verdict(processor * 1e3, FIRST_BLOCK_SECONDS * 1e3, "ms")
    print(f"  the first block after the import     {processor * 1e3:.0f} ms of processor time ({met}), ", end="")
    print(f"{seconds * 1e3:.0f} ms in all")
    net.chain.close()


def size_of(folder: Path) -> int:
    """What the files of a folder take on the disk."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


# -- a node


def forget_pages(folder: Path) -> None:
    """Take the files of a folder out of the page cache."""
    os.sync()
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def show_starts(folder: Path) -> None:
    """With a warm cache, the best of three; and with a cold one."""
    start_of(folder)
    seconds, processor = min(start_of(folder) for _ in range(3))
    print(
        f"  start to first answer, warm cache    {seconds:.2f} s ({verdict(seconds, START_SECONDS, 's')}), "
        f"with {processor:.2f} s of processor time"
    )
    forget_pages(folder)
    seconds, processor = start_of(folder)
    print(f"  start to first answer, cold cache    {seconds:.2f} s, with {processor:.2f} s of processor time")


class Memory(NamedTuple):
    """Private memory of a process, in bytes."""

    own: int
    of_the_map: int
    """Pages of the state's map that nobody else has in memory: the system can drop them at any time."""


def private_memory(process: int) -> Memory:
    """Of every mapping, what is private; by the file that it is of."""
    found: Counter[bool] = Counter()
    is_map = False
    for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
        head, *rest = line.split()
        if head.endswith(":"):
            if head in {"Private_Clean:", "Private_Dirty:"}:
                found[is_map] += int(rest[0]) * 1024
        else:
            is_map = line.endswith("data.mdb")
    return Memory(found[False], found[True])


def show_memory(folder: Path, scale: Scale, blocks: int) -> None:
    """Blocks of mixed traffic into a node that answers clients."""
    with dev(folder) as node:
        traffic = Traffic(node, scale)
        before = [private_memory(each).own for each in tree(node.process.pid)]
        began = monotonic()
        for number in range(blocks):
            traffic.block(number)
        seconds = monotonic() - began
        sizes = [private_memory(each) for each in tree(node.process.pid)]
        processor = sum(map(processor_seconds, tree(node.process.pid)))
        node.stop()
    told = ", ".join(f"{count:,} {name}" for name, count in sorted(traffic.taken.items()))
    print(f"  {blocks:,} blocks in {seconds:.0f} s ({processor:.0f} s of processor time): {told}; ", end="")
    print(f"{traffic.refused.total():,} refused; {traffic.answers:,} other answers")
    own, all_ = sum(each.own for each in sizes) / 1e6, sum(map(sum, sizes)) / 1e6
    held = " + ".join(f"{each.own / 1e6:.0f}" for each in sizes)
    print(f"  private memory before                {sum(before) / 1e6:.0f} MB")
    print(f"  private memory after                 {own:.0f} MB = {held} ({verdict(own, PRIVATE_MEGABYTES, 'MB')})")
    print(f"  with the map, where one alone has it {all_:.0f} MB")


def measure(folder: Path, scale: Scale, blocks: int = BLOCKS_OF_TRAFFIC) -> None:
    """Print every figure of a state of some size; its files go into a folder."""
    few, many = folder / "few", folder / "many"
    began, processor = monotonic(), process_time()
    write_state(many, scale)
    seconds = monotonic() - began
    print(f"  {scale.markets:,} open markets and {scale.bets:,} bets written in {seconds:.0f} s ", end="")
    print(f"({verdict(seconds, GENERATION_SECONDS, 's')}), {process_time() - processor:.0f} s of processor time")
    print(f"  size on disk                         {size_of(many) / 1e6:.0f} MB")
    show("ledgerd check", run("check", "--data-dir", str(many), "--chain", "testnet"))
    write_state(few, Scale(FEW, 15 * FEW, scale.accounts))
    show_blocks(few, many, scale.markets)
    show_snapshot(many, folder / "taken")
    show_starts(many)
    show_memory(many, scale, blocks)


def main() -> None:
    """Print every figure."""
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), Scale())
