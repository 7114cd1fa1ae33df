"""The work of `tests.chain.victims`, with a history that follows it: worth killing too.

`python -m tests.history.victims replay|produce FOLDER LAST`. Each line that it writes is the height of a commit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledgerd.chain.chain import Chain
from tests.chain.victims import open_for_production, open_for_replay, produce_in, replay_into, report_to_killer
from tests.history.histories import followed


@contextmanager
def opened(kind: str, folder: Path) -> Iterator[Chain]:
    """The chain of a folder, as after a restart."""
    chain = open_for_production(folder).chain if kind == "produce" else open_for_replay(folder)
    with chain:
        yield chain


def main(kind: str, folder: Path, last: int) -> None:
    if kind == "produce":
        network = open_for_production(folder)
        with network.chain as chain, followed(chain, folder):
            report_to_killer(chain.head_number)
            produce_in(network, last, report_to_killer)
    else:
        with open_for_replay(folder) as chain, followed(chain, folder):
            report_to_killer(chain.head_number)
            replay_into(chain, folder.parent / "block_log", last, report_to_killer)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
