"""An API node over a replica: for each recorded chain the recorded answers, byte for byte, after undone blocks too.

A usual run asks a quarter of the requests at the last recorded block of three chains, one for each age of the network;
`EVERY_CHAIN=1 scripts/test tests/node/workers/api_node` all of them, at each recorded block of every chain.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import pytest

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.rpc.blocks.records import FILE_NAME
from tests.chain.recorded_chains import LIKE_THE_RECORDING, network_of
from tests.node.workers.api_node.test_source import PROPERTIES, asked, over
from tests.recorded import ALL_CHAINS, recorded_answers, recorded_blocks
from tests.replica.nodes import RunningReplica, ServedNode
from tests.rpc.api.serving import copy_followed, recorded_api_answers, without_origin
from tests.rpc.api.test_recorded_answers import STANDS

EVERY = "EVERY_CHAIN" in os.environ
USUAL = ("open-2", "open-main", "open-pm2")
ASKED = [
    (name, height, files)
    for name, stands in STANDS.items()
    if EVERY or name in USUAL
    for height, files in ([each for each in stands if each[1]][0 if EVERY else -1 :])
]
STEP = 1 if EVERY else 4
AT_ONCE = 5
"""Blocks that come while it follows, and are undone as far as that goes."""


def replicate(name: str, height: int, folder: Path) -> None:
    """A replica of a node, whose last blocks it takes, sees undone, and takes again."""
    logged = min(height, ALL_CHAINS.get(name, height))
    copy_followed(name, logged - AT_ONCE, folder / "node")
    (folder / "node" / FILE_NAME).rename(folder / "node" / STATE_FOLDER / FILE_NAME)
    with ServedNode(folder / "node", network_of(name)) as node:
        node.serve()
        with RunningReplica(node.settings, folder / "replica") as replica:
            replica.wait_for_head(logged - AT_ONCE)
            push(node, recorded_blocks(name)[logged - AT_ONCE : logged])
            replica.wait_for_head(logged)
            least = max(node.chain.irreversible, logged - AT_ONCE)
            while node.chain.head_number > least:
                node.chain.pop_block()
            replica.wait_for_head(least)
            push(node, recorded_blocks(name)[least:logged])
            for number in range(logged + 1, height + 1):
                raw = json.loads(recorded_answers(name, height)["get_raw_block"][(number,)])["raw_block"]
                push(node, [base64.b64decode(raw)])
            replica.wait_for_head(height)


def push(node: ServedNode, blocks: Iterable[bytes]) -> None:
    node.push((codec_of(Block).decode_exactly(each) for each in blocks), skip=LIKE_THE_RECORDING)


@pytest.mark.parametrize(("name", "height", "files"), ASKED)
def test_recorded_requests_get_the_recorded_answers_from_a_replica(
    name: str, height: int, files: tuple[str, ...], tmp_path: Path
) -> None:
    replicate(name, height, tmp_path)
    made, follower = over(name, tmp_path / "replica")
    follower.refresh()
    assert f'"head_block_number":{height},' in asked(made, *PROPERTIES)
    different, count = [], 0
    for request, recorded in islice(recorded_api_answers(name, *files), 0, None, STEP):
        answer = made.dispatcher.answer(json.dumps(request).encode())
        assert isinstance(answer, bytes)
        if without_origin(answer.decode("utf-8", "surrogateescape")) != without_origin(recorded):
            different.append(request["params"])
        count += 1
    assert count > 100 // STEP
    assert different == []
