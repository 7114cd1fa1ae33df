"""States that the version before hardfork 14 wrote, in data directories as it left them.

As a program, `python -m tests.chain.former_states FOLDER ROWS COMMITS before|after` converts a state that stands in a
folder, so many rows a step, and kills itself at a commit: the one of this number, before it or after it.
"""

from __future__ import annotations

import lzma
import os
import signal
import sys
from pathlib import Path

from ledgerd.chain.chain import STATE_FOLDER
from ledgerd.chain.log.block_log import BlockLog
from ledgerd.state import conversion
from ledgerd.state.disk import DATA_FILE, Disk
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.former import FORMERS
from ledgerd.state.store import Store
from tests.recorded import FOLDER, recorded_blocks

FORMER_STATES = FOLDER.parent / "former"
IRREVERSIBLE = {"open-2-60": 60, "open-main15-314": 299}
"""The last block of the log beside each state."""


def former_directory(folder: Path, name: str) -> Path:
    """A data directory of the former version: its state, and its log of irreversible blocks."""
    state = folder / STATE_FOLDER
    state.mkdir(parents=True)
    (state / DATA_FILE).write_bytes(lzma.decompress((FORMER_STATES / f"{name}.mdb.xz").read_bytes()))
    log = BlockLog.open(state)
    for number, packed in enumerate(recorded_blocks(name.rsplit("-", 1)[0])[: IRREVERSIBLE[name]], 1):
        log.append(number, packed)
    log.close()
    return folder


def convert_until(folder: Path, rows: int, commits: int, moment: str) -> None:
    """Convert, and die at a commit."""
    conversion.ROWS_A_STEP = rows
    commit, made = Disk.commit, 0

    def counted(disk: Disk) -> None:
        nonlocal made
        made += 1
        if made == commits and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        commit(disk)
        if made == commits:
            os.kill(os.getpid(), signal.SIGKILL)

    Disk.commit = counted  # type: ignore[method-assign,assignment]
    Store.open(folder, STORED_TABLES, formers=FORMERS).close()


if __name__ == "__main__":
    convert_until(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
