"""The known word that an unknown one was most likely meant to be."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """The most similar of the known words, of which there is at least one."""
    from difflib import get_close_matches  # noqa: PLC0415 - loaded when there is something to correct

    return get_close_matches(word, known, n=1, cutoff=0)[0]
