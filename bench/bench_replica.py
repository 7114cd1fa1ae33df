"""What replicas cost a node, and how fast, and in how much memory, one follows.

Recorded blocks are applied by two chains in turns of twenty, one of which writes the log of changes; time is that of
the thread. Then a replica in a process of its own loads a state of 200,000 accounts, is left behind, and catches up.
"""

from __future__ import annotations

import gc
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import thread_time

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.skip import VERIFIED_BEFORE
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.replica.process import TOO_FAR
from ledgerd.state.files.change_log import CHANGES_FOLDER, RUN_BYTES, ChangeLog
from ledgerd.state.files.disk import Space
from ledgerd.state.views.serving_status import SERVING_STATUS_FILE, ServingStatusFile
from ledgerd.supervision.processes import Child, module_command
from tests.chain.crowds import populate_store
from tests.chain.recorded_chains import LIKE_THE_RECORDING, network_of
from tests.recorded import recorded_blocks
from tests.replica.nodes import ServedNode

CHAIN, BEGUN = "open-1", 200
TURN = 20
ACCOUNTS = 200_000
LEAST_SPEED = 1000
"""Blocks a second while catching up."""
MOST_MEMORY = 150_000_000
MOST_COST = 0.02
PATIENCE = 300.0


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        for title, batch in (("a commit for each block", 1), ("a commit for 100 blocks", 100)):
            show_cost(Path(folder) / str(batch), title, batch)
        show_following(Path(folder))


def blocks(first: int, last: int) -> list[Block]:
    """Recorded blocks, decoded anew."""
    return [codec_of(Block).decode(raw) for raw in recorded_blocks(CHAIN)[first - 1 : last]]


def show_cost(folder: Path, title: str, batch: int) -> None:
    """What the log of changes takes of the chain's thread, for any number of replicas."""
    chains = {is_on: _opened(folder / str(is_on), is_on=is_on) for is_on in (False, True)}
    ratios, spent = list[float](), {False: 0.0, True: 0.0}
    for start in range(BEGUN + 1, len(recorded_blocks(CHAIN)) - max(TURN, batch), max(TURN, batch)):
        last = start + max(TURN, batch) - 1
        took = {is_on: _apply(chains[is_on], blocks(start, last), batch) for is_on in _order(start)}
        ratios.append(took[True] / took[False] - 1)
        for is_on, seconds in took.items():
            spent[is_on] += seconds / (len(recorded_blocks(CHAIN)) - BEGUN)
    for chain in chains.values():
        chain.close()
    print(
        f"{title}: {spent[False] * 1e6:.0f} us a block, {spent[True] * 1e6:.0f} with the log of changes: "
        f"{median(ratios):+.1%} (at most {MOST_COST:.0%})"
    )


def _order(start: int) -> tuple[bool, bool]:
    return (False, True) if start // TURN % 2 else (True, False)


def _opened(folder: Path, *, is_on: bool) -> Chain:
    log = ChangeLog(folder / STATE_FOLDER / CHANGES_FOLDER, os.urandom(RUN_BYTES)) if is_on else None
    chain = Chain.open(folder, network_of(CHAIN), clock=lambda: 0.0, space=Space(changes=log))
    _apply(chain, blocks(1, BEGUN), BEGUN)
    return chain


def _apply(chain: Chain, batch_of: list[Block], batch: int) -> float:
    gc.collect()
    begun = thread_time()
    for count, block in enumerate(batch_of, 1):
        chain.push_block(block, LIKE_THE_RECORDING, commit=False).or_raise()
        if not count % batch:
            chain.commit()
    return thread_time() - begun


def show_following(folder: Path) -> None:
    """A whole state, the memory of who has it, and catching up by changes."""
    last = len(recorded_blocks(CHAIN))
    with ServedNode(folder / "node", network_of(CHAIN)) as node:
        node.push(blocks(1, BEGUN), batch=BEGUN, skip=VERIFIED_BEFORE)
        populate_store(node.chain.parts.store, ACCOUNTS)
        node.serve()
        with following(node, folder / "replica") as (child, behind):
            begun = time.monotonic()
            wait_until(lambda: behind() == 0)
            print(f"a whole state of {ACCOUNTS} accounts: {time.monotonic() - begun:.1f} s, the start of it included")
        node.push(blocks(BEGUN + 1, last), skip=VERIFIED_BEFORE)
        with following(node, folder / "replica") as (child, behind):
            wait_until(lambda: (behind() or 0) > 0)
            begun, left = time.monotonic(), behind() or 0
            wait_until(lambda: behind() == 0)
            speed = left / (time.monotonic() - begun)
            print(f"catching up by changes: {speed:.0f} blocks/s (at least {LEAST_SPEED})")
            private, most = private_bytes(child.pid) / 1e6, MOST_MEMORY / 1e6
            print(f"private memory of the replica: {private:.0f} MB (at most {most:.0f})")


@contextmanager
def following(node: ServedNode, folder: Path) -> Iterator[tuple[Child, Callable[[], int | None]]]:
    """A replica in a process of its own, and how far it is behind."""
    (folder / SERVING_STATUS_FILE).unlink(missing_ok=True)
    file = ServingStatusFile(folder)
    child = Child.start((*module_command("ledgerd.replica.process"), str(node.settings), str(folder)))

    def behind() -> int | None:
        standing = file.read()
        is_known = standing is not None and standing.reason in {"", TOO_FAR}
        return standing.behind if standing is not None and is_known else None

    try:
        yield child, behind
    finally:
        child.terminate()
        child.wait_or_kill(PATIENCE)


def wait_until(is_so: Callable[[], bool]) -> None:
    """Look every few milliseconds."""
    until = time.monotonic() + PATIENCE
    while not is_so() and time.monotonic() < until:
        time.sleep(0.005)


def private_bytes(process: int) -> int:
    """Memory that no other process has, without pages of files that can be read again."""
    for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
        if line.startswith("Private_Dirty:"):
            return int(line.split()[1]) * 1024
    return 0


if __name__ == "__main__":
    main()
