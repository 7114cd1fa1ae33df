"""A position in the JSON text of a snapshot, which is read in pieces. Records in the reference's fixed writing are cut
out of it many at a time, without decoding them; all others are decoded one by one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from ledgerd.codec.json.text import Json
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.batches import RecordBatch, array_of_texts, cut_array

LARGEST_RECORD = 64 << 20
"""Characters of one record; the largest possible one, a block as JSON, has a fifth of that."""

MOST_VALUES = 4_000_000
"""Values inside one record: a list of twenty million empty ones would take 1.7 GB of memory."""

MOST_FETCHED = 8 << 20
"""Characters that are fetched at once for a record that goes on: what stands after it is in memory too."""

RECORDS_A_BATCH, CHARACTERS_A_BATCH = 512, 128 << 10
"""A batch ends with the first of these."""

# A quote behind a brace begins a text in any JSON, and a name and a colon after that quote are no part of a text: so
# these stand between values wherever they stand, though between those of a value inside a record perhaps.
_FIRST = '{"id":'
_BETWEEN = '},{"id":'
_BEHIND_LAST = re.compile(r'\}\],"[a-z_]+":[\[{]')

decode_one = json.JSONDecoder(strict=False).raw_decode


class JsonCursor:
    """A position in a JSON text that is read in pieces."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces = pieces
        self._text = ""
        self._place = 0
        self._begin = 0
        """The place where the last value begins."""
        self._looked_at = 0
        """Up to here records cannot be cut; they are looked at only once, however many there are."""

    @property
    def size(self) -> int:
        """The characters of the last value."""
        return self._place - self._begin

    @property
    def text(self) -> str:
        """The last value, as it stands there."""
        return self._text[self._begin : self._place]

    def skips(self, character: str) -> bool:
        if self._place >= len(self._text) and not self._fetch(1):
            return False
        if not self._text.startswith(character, self._place):
            return False
        self._place += 1
        return True

    def expect(self, character: str) -> None:
        if not self.skips(character):
            raise SnapshotError(f"the snapshot is damaged: no {character} where one must be")

    def batches(self, section: str) -> Iterator[RecordBatch]:
        """The values of an array. What is wrong with one of them is raised after those before it."""
        values, texts, characters = list[Json](), list[str](), 0
        try:
            while not self.skips("]"):
                cut = self._cut()
                if values and (cut or len(values) >= RECORDS_A_BATCH or characters >= CHARACTERS_A_BATCH):
                    yield RecordBatch.of_values(section, values, texts)
                    values, texts, characters = [], [], 0
                for start in range(0, len(cut), RECORDS_A_BATCH):
                    yield RecordBatch.of_texts(section, cut[start : start + RECORDS_A_BATCH])
                if not cut:
                    values.append(self.value())
                    characters += self.size
                    if self.size <= CHARACTERS_A_BATCH:
                        texts.append(self.text)
                self.skips(",")
        except SnapshotError:
            if values:
                yield RecordBatch.of_values(section, values, texts)
            raise
        if values:
            yield RecordBatch.of_values(section, values, texts)

    def _cut(self) -> list[msgspec.Raw]:
        """Step over the next whole records, if they are written as the reference writes them: JSON with its brackets in
        pairs, so that no place inside a record was taken for its end. None, where one of them must be looked at.
        """
        text, place = self._text, self._place
        if place < self._looked_at or not text.startswith(_FIRST, place):
            return []
        limit = place + CHARACTERS_A_BATCH
        last = _BEHIND_LAST.search(text, place, limit)
        end = last.start() if last else text.rfind(_BETWEEN, place, limit)
        if end < 0:
            self._looked_at = min(limit, len(text))
            return []
        try:
            cut = cut_array(array_of_texts((text[place : end + 1],)))
        except (msgspec.MsgspecError, RecursionError):
            self._looked_at = end
            return []
        self._place = end + 1
        return cut

    def value(self) -> Any:  # noqa: ANN401 - JSON of any kind
        while True:
            problem: ValueError | None = None
            try:
                value, end = decode_one(self._text, self._place)
            except RecursionError as error:
                raise SnapshotError(f"the snapshot is damaged: a part is not valid JSON ({error})") from error
            except ValueError as error:
                problem, value, end = error, None, len(self._text)
            if end < len(self._text):
                return self._passed(value, end)
            here = len(self._text) - self._place
            if here > LARGEST_RECORD:
                raise SnapshotError(f"the snapshot is damaged: a record has more than {LARGEST_RECORD} characters")
            if self._text.count(",", self._place) > MOST_VALUES:
                raise SnapshotError(f"the snapshot is damaged: a record has more than {MOST_VALUES} values")
            if self._fetch(min(here, MOST_FETCHED)):
                continue
            if problem is not None:
                raise SnapshotError(f"the snapshot is damaged: a part is not valid JSON ({problem})") from problem
            return self._passed(value, end)

    def _passed(self, value: Any, end: int) -> Any:  # noqa: ANN401 - (the same)
        """Step over a value. An escape can stand for half of a character, which nothing could write again."""
        if self._text.find("\\u", self._place, end) >= 0:
            try:
                json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogateescape")
            except UnicodeEncodeError as error:
                raise SnapshotError(f"the snapshot is damaged: a text is no Unicode ({error.reason})") from error
        self._begin, self._place = self._place, end
        return value

    def _fetch(self, count: int) -> bool:
        """Fetch at least a number of characters; `False` at the end of the text."""
        pieces, size = [self._text[self._place :]], 0
        for piece in self._pieces:
            pieces.append(piece)
            size += len(piece)
            if size >= count:
                break
        self._looked_at -= self._place
        self._text, self._place = "".join(pieces), 0
        return size > 0
