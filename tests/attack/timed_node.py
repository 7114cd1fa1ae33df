"""The program of a node that notes how long each block took on the chain's thread: rules, commit, and what is told."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from ledgerd.chain.chain import Chain
from ledgerd.cli import main

FILE = "applied.txt"


def note_times(path: Path) -> None:
    """Write a line for each block that moved the head: seconds."""
    push = Chain.push_block
    file = path.open("a", buffering=1, encoding="ascii")

    def timed(chain: Chain, *words: Any, **options: Any) -> Any:
        began = perf_counter()
        outcome = push(chain, *words, **options)
        if outcome.has_moved:
            file.write(f"{perf_counter() - began:.6f}\n")
        return outcome

    Chain.push_block = timed  # type: ignore[method-assign, assignment]  # to be timed


def times_of(folder: Path) -> list[float]:
    """The seconds of all blocks so far."""
    path = folder / FILE
    return [float(line) for line in path.read_text().split()] if path.exists() else []


if __name__ == "__main__":
    note_times(Path(sys.argv[sys.argv.index("--data-dir") + 1]) / FILE)
    sys.exit(main())
