"""Cheap damage to bytes: what a disk, a wire or a stranger may make of something sound. The generator decides all."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

ODD_NUMBERS = tuple(
    number.to_bytes(width, order)
    for width in (1, 2, 4, 8)
    for number in (0, 1, (1 << 8 * width - 1) - 1, 1 << 8 * width - 1, (1 << 8 * width) - 1)
    for order in ("little", "big")
)
"""The numbers at which widths end, as the wire and files write them."""

MOST_EDITS = 4
LONGEST_PIECE = 40


def damaged(random: Random, sound: bytes, words: Sequence[bytes] = ODD_NUMBERS) -> bytes:
    """The same bytes with one to four edits; `words` are pieces that are worth putting somewhere."""
    data = bytearray(sound)
    for _ in range(1 + int(random.random() ** 2 * MOST_EDITS)):
        _edit(random, data, words)
    return bytes(data)


def _edit(random: Random, data: bytearray, words: Sequence[bytes]) -> None:
    chance, at = random.random(), int(random.random() * (len(data) + 1))
    if chance < 0.3 and at < len(data):
        data[at] = int(random.random() * 256)
    elif chance < 0.5 and at < len(data):
        data[at] ^= 1 << int(random.random() * 8)
    elif chance < 0.65:
        word = words[int(random.random() * len(words))]
        data[at : at + len(word)] = word
    elif chance < 0.8:
        data[at:at] = words[int(random.random() * len(words))]
    elif chance < 0.9:
        del data[at : at + 1 + int(random.random() ** 2 * LONGEST_PIECE)]
    elif chance < 0.95:
        piece = data[at : at + 1 + int(random.random() * LONGEST_PIECE)]
        place = int(random.random() * (len(data) + 1))
        data[place:place] = piece
    else:
        del data[at:]
