"""An API node over directories that another process writes: the recorded answers, byte for byte."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.chain.chain import STATE_FOLDER
from ledgerd.history.settings import HistorySettings
from ledgerd.node.workers.api_node.following import DirectoryFollower
from ledgerd.node.workers.api_node.settings import ApiNodeSettings
from ledgerd.node.workers.api_node.worker import service
from ledgerd.node.workers.known_methods import EVERY_API
from ledgerd.rpc.blocks.records import FILE_NAME
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.http.service import Service
from ledgerd.rpc.link.link import Link
from tests.chain.recorded_chains import network_of
from tests.node.workers.api_node.writing import Writer, writer
from tests.rpc.api.serving import copy_followed, recorded_api_answers, without_stack
from tests.rpc.api.test_recorded_answers import STANDS

EVERY = os.environ.get("EVERY_CHAIN")
"""Set: all recorded chains at all heights with answers; else two of them."""
ASKED = [
    (name, height, files)
    for name, stands in STANDS.items()
    for height, files in stands
    if files and (EVERY or (name, height) in {("open-2", 617), ("open-pm2", 463)})
]


@pytest.fixture(scope="module")
def writing() -> Iterator[Writer]:
    with writer() as made:
        yield made


PROPERTIES = ("database_api", "get_dynamic_global_properties")
AT_ONCE = 5
"""Blocks that are written while the API node runs."""


def over(name: str, folder: Path, node: str = "") -> tuple[Service, DirectoryFollower]:
    """An API node with every API over a recorded chain."""
    settings = ApiNodeSettings(
        data_dir=str(folder),
        state=str(folder / STATE_FOLDER),
        archive=str(folder / "archive"),
        chain="",
        plugins=tuple(api.name for api in EVERY_API),
        cached_answers=100,
        history=HistorySettings(),
        node=node,
    )
    return service(Link(), Limits(), settings, network_of(name))


def asked(made: Service, api: str, method: str, *arguments: object) -> str:
    body = json.dumps({"jsonrpc": "2.0", "method": "call", "params": [api, method, arguments], "id": 1})
    answer = made.dispatcher.answer(body.encode())
    assert isinstance(answer, bytes)
    return answer.decode("utf-8", "surrogateescape")


@pytest.mark.parametrize(("name", "height", "files"), ASKED)
def test_recorded_requests_get_the_recorded_answers_while_another_process_writes(
    name: str, height: int, files: tuple[str, ...], tmp_path: Path, writing: Writer
) -> None:
    copy_followed(name, height - AT_ONCE, tmp_path)
    (tmp_path / FILE_NAME).rename(tmp_path / STATE_FOLDER / FILE_NAME)
    (tmp_path / FILE_NAME).symlink_to(tmp_path / STATE_FOLDER / FILE_NAME)
    assert writing.do("open", name, tmp_path) == height - AT_ONCE
    made, follower = over(name, tmp_path)
    follower.look()
    assert f'"head_block_number":{height - AT_ONCE},' in asked(made, *PROPERTIES)
    assert writing.do("advance", height) == height
    follower.look()
    assert f'"head_block_number":{height},' in asked(made, *PROPERTIES)
    count = 0
    for request, recorded in recorded_api_answers(name, *files):
        answer = made.dispatcher.answer(json.dumps(request).encode())
        assert isinstance(answer, bytes)
        assert without_stack(answer.decode("utf-8", "surrogateescape")) == without_stack(recorded), request["params"]
        count += 1
    assert count > 100
    writing.do("close")
