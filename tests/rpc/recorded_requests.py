"""What a reference node answered to odd and malformed requests, one after the other, with its answer cache on."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from tests.recorded import FOLDER

ENVELOPES = (*range(72), *range(1609, 1627))
"""The requests that concern the envelope and HTTP; all others concern the arguments of single methods."""

_THREAD = re.compile(r"\bth_\d+")


class Exchange(NamedTuple):
    """A request and the answer to it."""

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: str
    status: str
    answer_headers: Sequence[str]
    answer: str


OLDER, NEWER = "open-1/errors-2718", "open-pm/errors-2027"
"""The same requests to a node of 3.2.0 and to one of 4.1.0."""


@cache
def recorded_exchanges(file: str = OLDER) -> tuple[Exchange, ...]:
    """All of them, in the order in which they were sent."""
    lines = lzma.decompress((FOLDER / f"{file}.jsonl.xz").read_bytes()).splitlines()
    return tuple(Exchange(number, **json.loads(line)) for number, line in enumerate(lines))


def comparable(answer: str | bytes) -> Any:
    """An answer without what no two nodes have alike: places in a source, threads and times."""
    text = answer if isinstance(answer, str) else answer.decode("utf-8", "surrogateescape")
    return without_places(json.loads(_THREAD.sub("th_0", text)))


def without_places(value: Any) -> Any:
    if isinstance(value, list):
        return [without_places(each) for each in value]
    if isinstance(value, dict):
        levels = {"context": {"level": value["context"]["level"]}} if isinstance(value.get("context"), dict) else {}
        return {key: without_places(each) for key, each in value.items()} | levels
    return value
