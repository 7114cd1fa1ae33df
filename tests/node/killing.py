"""Nodes as processes that are killed while they fetch blocks or take in a snapshot, and what is left of them."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.offline.invariants import check
from ledgerd.codec import codec_of
from ledgerd.node.datadir.state_files import StateFiles
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.types.endpoint import Endpoint
from tests.chain.networks import SMALL, Clock
from tests.chain.whole_state import first_change, whole_state
from tests.node.processes import LOOPBACK, PROGRAM, NodeProcess
from tests.p2p.socket_peers import Pieces, SocketPeer, honest
from tests.patience import PATIENCE
from tests.recorded import recorded_blocks
from tests.snapshot.recorded import recorded_file

SYNCED = "open-1", 2718
"""The chain that is fetched, and so many blocks of it."""

IMPORTED, IMPORTED_HEIGHT = "open-2-120", 120
LATEST = 1.1
"""A kill comes after at most so many times the seconds that the work takes without it: some just when it is done."""


class After(NamedTuple):
    """What came of letting a node go on."""

    was_killed: bool
    """If not, the work was done before the moment came."""
    is_done: bool
    height: int
    """Of the state that is left; 0 if there is none."""


def kill_after(words: Sequence[str], folder: Path, seconds: float) -> bool:
    """Run a command and kill it, unless it has ended before; whether it was killed. It has told of no bug."""
    log = folder.with_name(f"{folder.name}.log")
    with log.open("ab") as told:
        victim = subprocess.Popen(  # noqa: S603 - our own program
            [*PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=told
        )
        try:
            victim.wait(seconds)
        except subprocess.TimeoutExpired:
            victim.kill()
            victim.wait(PATIENCE)
    text = log.read_text(errors="replace")
    assert "Traceback" not in text, text[-3000:]
    assert victim.returncode in {0, -9}, text[-3000:]
    return victim.returncode != 0


class Serving:
    """A peer that serves blocks from a thread of its own."""

    def __init__(self, packed: Sequence[bytes], answer: Pieces = honest) -> None:
        self._packed = packed
        self._answer = answer
        self._ready = threading.Event()
        self._end: asyncio.Event | None = None
        self._loop = asyncio.new_event_loop()
        self.endpoint = Endpoint("", 0)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        if not self._ready.wait(PATIENCE):
            raise AssertionError("the peer never listened")

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._peer = peer = SocketPeer(1, self._packed, self._answer)
        self.endpoint = await peer.start()
        self._end = asyncio.Event()
        self._ready.set()
        await self._end.wait()
        await peer.stop()

    def grow(self, packed: Sequence[bytes]) -> None:
        """Have these blocks too, and push them to whoever is connected."""
        self._loop.call_soon_threadsafe(self._peer.grow, packed)

    def stop(self) -> None:
        if self._end is not None:
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join(PATIENCE)


class Syncing:
    """A node that fetches a recorded chain from a peer, and a chain that has taken in as many of its blocks."""

    def __init__(self, folder: Path) -> None:
        name, self._last = SYNCED
        self._packed = recorded_blocks(name)[: self._last]
        self._folder, self._reference = folder / "node", folder / "reference"
        self._peer = Serving(self._packed)
        self._head = 0
        self._words = (
            *("--data-dir", str(self._folder), "--chain=testnet", "--plugin=database_api", *LOOPBACK),
            f"--p2p-seed-node={self._peer.endpoint.host}:{self._peer.endpoint.port}",
        )
        self.begin()
        began = time.monotonic()
        with NodeProcess(*self._words) as node:
            node.wait_for(f"SYNC -> FORWARD at block {self._last}")
        self._seconds = time.monotonic() - began

    def begin(self) -> None:
        for each in (self._folder, self._reference):
            shutil.rmtree(each, ignore_errors=True)
        self._folder.with_name("node.log").unlink(missing_ok=True)
        self._head = 0

    def kill(self, random: Random) -> After:
        was_killed = kill_after(self._words, self._folder, random.uniform(0, self._seconds * LATEST))
        assert was_killed
        height = self._looked_at()
        return After(was_killed, height == self._last, height)

    def _looked_at(self) -> int:
        """The height of what is left, which is whole, and all that it had before the kill."""
        if not files_in(self._folder).exists:
            assert self._head == 0, f"the state of block {self._head} is gone"
            return 0
        with opened(self._folder) as chain, opened(self._reference) as reference:
            head = chain.head_number
            assert self._head <= head <= self._last
            for packed in self._packed[reference.head_number : head]:
                reference.push_block(codec_of(Block).decode(packed), commit=False).or_raise()
            reference.commit()
            problems = check(chain)
            assert problems == []
            if head:  # the time of genesis is that of the clock
                _same(chain, reference)
        log = BlockLogReader.open(self._folder / STATE_FOLDER)
        assert [packed for _, packed in log.scan(1, self._last)] == list(self._packed[: log.head_number])
        log.close()
        self._head = head
        return head


class Importing:
    """A node that begins with a snapshot, or the command that imports one; there is a whole state, or none."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder / "node", folder / "begin.vizjson"
        self._common = ("--data-dir", str(self._folder), "--chain=testnet")
        self._reference = folder / "reference"
        self._file.write_bytes(recorded_file(IMPORTED))
        began = time.monotonic()
        words = ("snapshot", "import", "--data-dir", str(self._reference), "--chain=testnet", str(self._file))
        subprocess.run([*PROGRAM, *words], check=True, capture_output=True, timeout=PATIENCE)  # noqa: S603 - ours
        self._seconds = time.monotonic() - began

    def begin(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.with_name("node.log").unlink(missing_ok=True)

    def kill(self, random: Random) -> After:
        if files_in(self._folder).exists:
            self.begin()
        self._file.write_bytes(recorded_file(IMPORTED))
        words = (
            ("snapshot", "import", *self._common, str(self._file))
            if random.random() < 0.5
            else (*self._common, "--plugin=database_api", f"--snapshot={self._file}", *LOOPBACK)
        )
        was_killed = kill_after(words, self._folder, random.uniform(0, self._seconds * LATEST))
        return After(was_killed, False, self._looked_at())

    def _looked_at(self) -> int:
        if not files_in(self._folder).exists:
            return 0
        with opened(self._folder) as chain, opened(self._reference) as reference:
            assert chain.head_number == IMPORTED_HEIGHT
            problems = check(chain)
            assert problems == []
            _same(chain, reference)
        return IMPORTED_HEIGHT


def files_in(folder: Path) -> StateFiles:
    """The files of a node's state."""
    return StateFiles(folder / STATE_FOLDER, folder / STATE_FOLDER, SMALL)


def opened(folder: Path) -> Chain:
    """The chain of a folder."""
    return Chain.open(folder, TESTNET, clock=Clock(), space=SMALL)


def _same(chain: Chain, reference: Chain) -> None:
    assert chain.head_id == reference.head_id
    head = chain.head_number
    states = [whole_state(each.parts.store, head=head) for each in (reference, chain)]
    changed = first_change(*states)
    assert changed is None, f"block {head}: {changed}"
