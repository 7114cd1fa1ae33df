"""Bundles: a file for each difference, with all that it takes to look into it, and to ask the question again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ledgerd.basics.durable import write_whole
from ledgerd.basics.printable import printable_lines
from ledgerd.codec.json.text import Json
from ledgerd.compare.node import NodeAnswer
from ledgerd.compare.reads import Read
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.secrets import without_keys

MOST_BUNDLES = 20
"""Differences that are written; what is found beyond them is counted."""
LARGEST_ANSWER = 2 << 20
"""Characters of an answer that are kept."""
CHECKSUM_BYTES = 20
"""Bytes of a checksum."""
LONGEST_ERROR = 4_096
"""Characters of an error of a node."""
LARGEST_BLOCKS = 2 << 20
"""Characters of all blocks of a bundle."""
LARGEST_BUNDLE = 16 << 20
"""Bytes that are read of a file that is said to be a bundle."""


SNAPSHOT, RECORDS = "snapshot", "records"
"""The question whose arguments are records of a state: section, id and fields of each."""
NAMED_RECORDS = 10


class KeptAnswer(msgspec.Struct):
    """An answer as text without private keys, up to its limit, and the checksum of all of it, by BLAKE2b."""

    text: str
    checksum: str
    """The checksum of the whole text, before it was cut."""
    length: int
    """The length of the text before it was cut."""
    error: str = ""

    @property
    def is_whole(self) -> bool:
        return len(self.text) == self.length

    @classmethod
    def of(cls, answer: NodeAnswer) -> KeptAnswer:
        whole = written(answer.value)
        checksum = hashlib.blake2b(whole.encode(), digest_size=CHECKSUM_BYTES).hexdigest()
        text = without_keys(whole)
        return cls(text[:LARGEST_ANSWER], checksum, len(text), printable_lines(answer.error[:LONGEST_ERROR]))


class AskedQuestion(msgspec.Struct):
    """A method and its arguments."""

    api: str
    method: str
    arguments: list[object]

    @classmethod
    def of(cls, read: Read) -> AskedQuestion:
        return cls(read.api, read.method, [_clean(each) for each in read.arguments])

    @property
    def words(self) -> str:
        if self.api == SNAPSHOT:
            named = [f"{each[0]} {each[1]}" for each in self.arguments if isinstance(each, list) and len(each) > 1]
            more = f" and {len(named) - NAMED_RECORDS} more" if len(named) > NAMED_RECORDS else ""
            return f"the snapshots of both for {', '.join(named[:NAMED_RECORDS])}{more}"
        return f"{self.api}.{self.method}({', '.join(map(repr, self.arguments))})"


class Bundle(msgspec.Struct, kw_only=True):
    """The bundle of one difference: both answers, the ones before, and the blocks between."""

    format: int = 1
    is_of_consensus: bool
    question: AskedQuestion
    place: str
    first: str
    second: str
    nodes: list[str]
    versions: list[str]
    program: str
    found_at: str
    block: int
    """The block at which both stood when they were asked last."""
    block_id: str
    first_block: int
    """The block at which the answers differed first."""
    equal_block: int
    """The last block at which the same was asked and equal; 0 if it never was."""
    before: KeptAnswer | None = None
    """The equal answer before, if it was kept."""
    answers: list[KeptAnswer]
    blocks: list[str] = []
    """The blocks as JSON, with their transactions: from the last one at which the answers were equal to the one at
    which they differed.
    """
    configuration: dict[str, str] = {}


class Bundles:
    """Writes bundles into a folder, up to the most that it may hold."""

    def __init__(self, folder: Path, program: str, configuration: Mapping[str, str]) -> None:
        self._folder = folder
        self.program = program
        self.configuration = dict(configuration)

    def keep(self, bundle: Bundle) -> str:
        """The file's path; empty if there are as many as may be."""
        taken = {path.name for path in self._folder.glob("difference-*.json")}
        if len(taken) >= MOST_BUNDLES:
            return ""
        path = self._folder / f"difference-{bundle.block}-{len(taken) + 1}.json"
        raw = msgspec.json.format(msgspec.json.encode(bundle), indent=1)
        write_whole(path, without_keys(raw.decode("utf-8")).encode())
        return str(path)


def read_bundle(path: Path) -> Bundle:
    """`OperatorError`: it is none."""
    try:
        with path.open("rb") as opened:
            raw = opened.read(LARGEST_BUNDLE + 1)
    except OSError as problem:
        raise OperatorError(f"{path} cannot be read: {problem.strerror}") from problem
    if len(raw) > LARGEST_BUNDLE:
        raise OperatorError(f"{path} has more than {LARGEST_BUNDLE:,} bytes: it is no difference of a shadow")
    try:
        found = msgspec.json.decode(raw, type=Bundle)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise OperatorError(f"{path} is no difference of a shadow ({problem})") from problem
    if len(found.answers) != 2 or len(found.nodes) != 2 or len(found.versions) != 2:
        raise OperatorError(f"{path} is no difference of a shadow: it has not two answers of two nodes")
    return found


def _clean(value: object) -> object:
    """Replace in the value of a node what is no valid text."""
    if isinstance(value, list):
        return [_clean(each) for each in value]
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def written(value: Json) -> str:
    """An answer as text: the same for the same answer."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def bounded(blocks: list[Json]) -> list[str]:
    """The last blocks, as many as a bundle has room for."""
    kept: list[str] = []
    room = LARGEST_BLOCKS
    for text in map(written, reversed(blocks)):
        room -= len(text)
        if room < 0:
            break
        kept.append(text)
    return kept[::-1]
