"""What a signature of a signer takes, with the disk: over its Unix socket, while the machine is busy with other work.

The slots lie in the past, which this signer allows; each is made durable before its signature leaves.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ledgerd.producer.signing.signer_link import SignerLink
from ledgerd.producer.signing.signer_place import SignerPlace
from ledgerd.protocol.blocks.block import BlockHeader, sign_block
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.types.identifiers import BlockId, MerkleRoot
from ledgerd.signer.folder import SignerFolder

DISK = "/var/tmp"  # noqa: S108 - a folder of its own there; `/tmp` may be memory, where nothing is made durable
KEY = PrivateKey(bytes(range(32)))
SIGNATURES = 1_000
TARGET = 20.0
"""Milliseconds, for 99 of a hundred."""
PAUSE = 0.11
"""Between two questions: a signer answers ten a second of one client for as long as they come."""
BUSY = """
import os, time
while True:
    with open('load', 'wb') as file:
        file.write(os.urandom(1 << 18))
        os.fsync(file.fileno())
    time.sleep(0.05)
"""
SPIN = "while True: sum(range(10_000))"


PROGRAM = """
import sys
from ledgerd.cli import main
from ledgerd.signer import rule
rule.MOST_BEHIND = 1 << 60
sys.exit(main())
"""
"""A signer that signs slots of the past, so that a thousand can be signed in a row."""


def header_of(slot: int) -> BlockHeader:
    """A header for a slot."""
    parent = BlockId((100).to_bytes(4, "big") + slot.to_bytes(16, "big"))
    return BlockHeader(parent, slot, "alice", MerkleRoot(bytes(20)), ())


def prepare(folder: Path) -> int:
    """The folder of a signer that was stopped cleanly; the first slot that it has not signed."""
    first = (int(time.time()) // BLOCK_INTERVAL - SIGNATURES - 10) * BLOCK_INTERVAL
    with SignerFolder(folder) as kept:
        kept.record.record(sign_block(header_of(first), (), KEY))
        kept.mark_clean()
    (folder / "signing.key").touch(0o600)
    (folder / "signing.key").write_text(KEY.wif)
    return first + BLOCK_INTERVAL


async def measure(place: SignerPlace, first: int) -> list[float]:
    """Milliseconds for each signature."""
    link, took, lost = SignerLink(place, None), list[float](), 0
    await link.status()
    for number in range(SIGNATURES):
        began = time.perf_counter()
        reply = await link.sign(KEY.public, header_of(first + number * BLOCK_INTERVAL))
        took.append(1_000 * (time.perf_counter() - began))
        if reply.answer is not None and reply.answer.signature is None:
            raise SystemExit(f"signature {number}: {reply.answer.text}")
        lost += reply.answer is None
        await asyncio.sleep(PAUSE)
    link.close()
    sys.stdout.write(f"{lost} of {SIGNATURES} had no answer in time\n")
    return took


def main() -> None:
    """Print the figures, with a load of as many processes as there are processors, and one that writes to the disk."""
    with tempfile.TemporaryDirectory(dir=DISK) as base:
        folder = Path(base) / "signer"
        first = prepare(folder)
        place = SignerPlace(path=folder / "socket")
        words = f"signer --data-dir {folder} --key-file {folder}/signing.key --validator alice --listen {place}"
        program = [sys.executable, "-c", PROGRAM]
        signer = subprocess.Popen([*program, *words.split()], stderr=subprocess.DEVNULL)  # noqa: S603 - ours
        loads = [[sys.executable, "-c", SPIN]] * (os.cpu_count() or 1) + [[sys.executable, "-c", BUSY]]
        load = [subprocess.Popen(words, cwd=base) for words in loads]  # noqa: S603 - ours
        try:
            while not folder.joinpath("socket").exists():
                time.sleep(0.05)
            took = sorted(asyncio.run(measure(place, first)))
        finally:
            for process in (*load, signer):
                process.kill()
                process.wait()
    median, late = took[len(took) // 2], took[int(0.99 * len(took))]
    sys.stdout.write(
        f"{SIGNATURES} signatures, each on the disk, under load: median {median:.1f} ms, 99 of 100 within "
        f"{late:.1f} ms (at most {TARGET:.0f}), the longest {took[-1]:.1f} ms\n"
    )


if __name__ == "__main__":
    main()
