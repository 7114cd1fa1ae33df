"""Replays a recorded chain with the records of its markets, until it is killed.

`python -m tests.projections.markets.victim CHAIN FOLDER BLOCKS`: so many blocks are in each commit. Each line
that it writes is the height of a block that was applied, which may not be committed yet.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ledgerd.codec import codec_of
from ledgerd.projections.following import follow
from ledgerd.projections.markets.records import MarketRecords
from ledgerd.protocol.blocks.block import Block
from tests.chain.recorded_chains import LIKE_THE_RECORDING, open_chain
from tests.recorded import recorded_blocks


def main(name: str, folder: Path, blocks_a_commit: int) -> None:
    with open_chain(name, folder) as chain:
        follow(chain, [MarketRecords()])
        for packed in recorded_blocks(name)[chain.head_number :]:
            chain.push_block(codec_of(Block).decode(packed), LIKE_THE_RECORDING, commit=False).or_raise()
            if chain.head_number % blocks_a_commit == 0:
                chain.commit()
            sys.stdout.write(f"{chain.head_number}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
