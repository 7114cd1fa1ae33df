"""The additions of 4.1.0 are all that it says of an older chain beyond what 3.2.0 said of it."""

from __future__ import annotations

import json
import lzma
from typing import Any

from tests.additions import (
    METADATA,
    answer_with_additions,
    config_with_additions,
    counts_with_additions,
    state_with_additions,
)
from tests.recorded import FOLDER

OLDER, NEWER = FOLDER / "open-1", FOLDER / "open-1-at-4.1.0"


def recorded_lines(name: str, newer: bool) -> list[str]:
    raw = lzma.decompress(((NEWER if newer else OLDER) / name).read_bytes())
    return raw.decode("utf-8", "surrogateescape").splitlines()


def snapshot(*, newer: bool) -> dict[str, Any]:
    document: dict[str, Any] = json.loads("".join(recorded_lines("state-2718.json.xz", newer)))
    return document


def answers(*, newer: bool) -> dict[str, str]:
    """Requests without their numbers, and the answers without places in a source."""
    found = {}
    for line in recorded_lines("api-2718.jsonl.xz", newer):
        fact = json.loads(line)
        answer = fact["answer"].partition(',"stack":[{"context"')[0]
        found[json.dumps(fact["request"]["params"])] = answer.rpartition(',"id":')[0] or answer
    return found


def test_a_snapshot_of_3_2_0_with_the_additions_is_that_of_4_1_0() -> None:
    older, newer = snapshot(newer=False), snapshot(newer=True)
    assert newer["state"].pop(METADATA) == []
    assert newer["header"]["object_counts"].pop(METADATA) == 0

    assert json.dumps(state_with_additions(older["state"])) == json.dumps(newer["state"])
    assert counts_with_additions(older["header"]["object_counts"]) == newer["header"]["object_counts"]


def test_an_answer_of_3_2_0_with_the_additions_is_that_of_4_1_0() -> None:
    older, newer = answers(newer=False), answers(newer=True)
    different = set()
    for asked, answer in older.items():
        method = json.loads(asked)[1]
        expected = config_with_additions(answer) if method == "get_config" else answer_with_additions(method, answer)
        if expected != newer[asked]:
            different.add(method)

    assert older.keys() <= newer.keys()
    assert different == set()
