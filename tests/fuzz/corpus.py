"""The corpus: inputs that together reach what the fuzzer has found so far, one a file, named after their hash."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"


def inputs() -> Iterator[bytes]:
    """Every input, in a fixed order."""
    for path in sorted(CORPUS.iterdir()):
        yield path.read_bytes()
