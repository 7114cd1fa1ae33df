"""Comparing what was recorded with what another program says: answers, values, states."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ledgerd.client.differing import ABSENT, Difference, differences
from ledgerd.codec.json.text import Json
from ledgerd.conformance.vectors import RecordedChain

RECORDED, HERE = "recorded", "here"

OF_THE_PROGRAM = {"CHAIN_VERSION", "CHAIN_HARDFORK_VERSION"}
"""Constants that tell the version of a program."""
OF_A_NODE = {"earliest_available_block_num"}
"""Fields that two sound nodes may answer differently: which block a node still keeps."""

METADATA = "pm_market_meta"
"""A section that only a node has which keeps what clients say of markets; no rule reads it."""


def difference_of(chain: RecordedChain, recorded: Json, here: Json) -> str:
    """The first difference of two values; nothing if they are equal.

    A chain that a program of an earlier version recorded has fewer fields than a program of today answers with: what is
    there in addition is no difference.
    """
    for each in differences(recorded, here):
        if each.place.rpartition(".")[2] in OF_A_NODE or _is_of_the_version(chain, each):
            continue
        return each.words(RECORDED, HERE)
    return ""


def _is_of_the_version(chain: RecordedChain, found: Difference) -> bool:
    return chain.is_of_an_earlier_version and (found.first == ABSENT or found.place in OF_THE_PROGRAM)


def answer_difference(chain: RecordedChain, recorded: str, here: Json) -> str:
    """The first difference of two answers of JSON-RPC. Of errors the code and the message count: what else is told of
    one names places in a program.
    """
    expected: Json = json.loads(recorded)
    if not isinstance(expected, dict) or not isinstance(here, dict):
        return "the answer is no JSON-RPC"
    one, other = expected.get("error"), here.get("error")
    if isinstance(one, dict) or isinstance(other, dict):
        return difference_of(chain, _told(one), _told(other))
    if "result" not in here:
        return "the answer has neither a result nor an error"
    return difference_of(chain, expected["result"], here["result"])


def _told(error: Json) -> Json:
    return {name: error.get(name) for name in ("code", "message")} if isinstance(error, dict) else None


def state_differences(chain: RecordedChain, height: int, here: dict[str, Json]) -> Iterator[tuple[str, str]]:
    """Each recorded section of a state, and its first difference from another program's state after the same block."""
    recorded, other = chain.state(height)["state"], here.get("state")
    if not isinstance(recorded, dict) or not isinstance(other, dict):
        yield "state", "this is no state"
        return
    for name, rows in recorded.items():
        if name != METADATA:
            yield name, _section_difference(chain, rows, other.get(name, []))
    for name, rows in other.items():
        if name not in recorded and name != METADATA and rows:
            yield name, "no such section was recorded"


def _section_difference(chain: RecordedChain, recorded: Json, here: Json) -> str:
    return "" if recorded == here else difference_of(chain, recorded, here)
