"""An API node over directories that another process writes: the recorded answers, byte for byte."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.history.embedded.following import open_history
from ledgerd.history.settings import HistorySettings
from ledgerd.node.workers.api_node.directory import NO_STATE
from ledgerd.node.workers.api_node.following import DirectoryFollower
from ledgerd.node.workers.api_node.source import MOST_BEHIND, NO_HISTORY, REFUSED
from ledgerd.node.workers.api_worker import service
from ledgerd.node.workers.known_methods import EVERY_API
from ledgerd.node.workers.settings import WorkerSettings
from ledgerd.rpc.blocks.records import FILE_NAME
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.http.service import Service
from ledgerd.rpc.link.link import Link
from ledgerd.state.views.serving_status import ServingStatus, write_serving_status
from tests.chain.recorded_chains import advance, network_of, open_chain
from tests.chain.replays import copy_replayed
from tests.history.histories import HISTORY_FOLDER
from tests.node.workers.api_node.writing import Writer, writer
from tests.recorded import ALL_CHAINS, recorded_answers
from tests.rpc.api.past_answers import accounts_of
from tests.rpc.api.serving import copy_followed, recorded_api_answers, without_origin
from tests.rpc.api.test_recorded_answers import STANDS
from tests.rpc.loopback import http_request, play, serving

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
    settings = WorkerSettings(
        data_dir=str(folder),
        state=str(folder / STATE_FOLDER),
        archive=str(folder / "archive"),
        chain="",
        plugins=tuple(api.name for api in EVERY_API),
        cached_answers=100,
        history=HistorySettings(),
        is_api_node=True,
        node=node,
    )
    made, source = service(Link(), Limits(), settings, network_of(name))
    assert isinstance(source.main, DirectoryFollower)
    return made, source.main


def asked(made: Service, api: str, method: str, *arguments: object) -> str:
    body = json.dumps({"jsonrpc": "2.0", "method": "call", "params": [api, method, arguments], "id": 1})
    answer = made.dispatcher.answer(body.encode())
    assert isinstance(answer, bytes)
    return answer.decode("utf-8", "surrogateescape")


@pytest.mark.parametrize(("name", "height", "files"), ASKED)
def test_recorded_requests_get_the_recorded_answers_while_another_process_writes(
    name: str, height: int, files: tuple[str, ...], tmp_path: Path, writing: Writer
) -> None:
    logged = min(height, ALL_CHAINS.get(name, height))
    first = logged - AT_ONCE
    copy_followed(name, first, tmp_path)
    (tmp_path / FILE_NAME).rename(tmp_path / STATE_FOLDER / FILE_NAME)
    (tmp_path / FILE_NAME).symlink_to(tmp_path / STATE_FOLDER / FILE_NAME)
    assert writing.do("open", name, tmp_path) == first
    made, follower = over(name, tmp_path)
    follower.refresh()
    assert f'"head_block_number":{first},' in asked(made, *PROPERTIES)
    assert writing.do("advance", logged - 1) == logged - 1
    writing.do("close")
    follower.refresh()
    assert f'"head_block_number":{logged - 1},' in asked(made, *PROPERTIES)
    writing.do("open", name, tmp_path)
    assert writing.do("advance", logged) == logged
    for number in range(logged + 1, height + 1):
        raw = json.loads(recorded_answers(name, height)["get_raw_block"][(number,)])["raw_block"]
        assert writing.do("push", raw) == number
    follower.refresh()
    assert f'"head_block_number":{height},' in asked(made, *PROPERTIES)
    count = 0
    for request, recorded in recorded_api_answers(name, *files):
        answer = made.dispatcher.answer(json.dumps(request).encode())
        assert isinstance(answer, bytes)
        assert without_origin(answer.decode("utf-8", "surrogateescape")) == without_origin(recorded), request["params"]
        count += 1
    assert count > 100
    past = recorded_answers(name, height).get("get_ops_in_block", {}) if f"answers-{height}" in files else {}
    for arguments, result in list(past.items())[-100:]:
        answered = asked(made, "operation_history", "get_ops_in_block", *arguments)
        assert answered == f'{{"jsonrpc":"2.0","result":{result},"id":1}}', arguments
    writing.do("close")


def test_without_a_state_requests_are_refused_and_answered_as_soon_as_there_is_one(tmp_path: Path) -> None:
    made, follower = over("open-2", tmp_path)
    copy_replayed("open-2", 200, tmp_path / "other")
    body = json.dumps({"jsonrpc": "2.0", "method": "call", "params": [*PROPERTIES, []], "id": 1}).encode()

    async def scene() -> None:
        async with serving(made) as server:
            client = await server.connect()

            async def get(path: str) -> tuple[str, Any]:
                await client.say(http_request(b"", method="GET", path=path))
                status, _, text = await client.answer()
                return status.split(" ")[1], json.loads(text)

            async def post() -> tuple[str, Any]:
                await client.say(http_request(body))
                status, _, text = await client.answer()
                return status.split(" ")[1], json.loads(text)

            for step, reason in ((None, NO_STATE), (ServingStatus("it is made anew"), "it is made anew")):
                if step is not None:
                    shutil.copytree(tmp_path / "other" / STATE_FOLDER, tmp_path / STATE_FOLDER)
                    write_serving_status(tmp_path, step)
                follower.refresh()
                assert await get("/health") == ("503", {"healthy": False, "reason": reason})
                assert await get("/ready") == ("503", {"ready": False, "reason": reason})
                status, answer = await post()
                assert (status, answer["error"]["message"]) == ("503", f"{REFUSED}: {reason}")
            write_serving_status(tmp_path, ServingStatus(behind=MOST_BEHIND + 1))
            follower.refresh()
            assert await get("/health") == ("200", {"healthy": True})
            status, answer = await get("/ready")
            assert (status, answer["reason"]) == ("503", f"{MOST_BEHIND + 1} blocks behind the followed node")
            status, answer = await post()
            assert (status, answer["result"]["head_block_number"]) == ("200", 200)
            assert (
                json.loads(asked(made, "operation_history", "get_ops_in_block", 1, False))["error"]["message"]
                == NO_HISTORY
            )
            (tmp_path / STATE_FOLDER / "data.mdb").unlink()
            follower.refresh()
            assert (await post())[0] == "503"

    play(scene)


def test_accounts_of_past_blocks_are_answered_from_the_journal(tmp_path: Path) -> None:
    settings = HistorySettings(journal="accounts")
    with open_chain("open-2", tmp_path) as chain, open_history(chain, tmp_path / HISTORY_FOLDER, settings):
        advance(chain, "open-2", 100)
        with chain.parts.store.committed() as state:
            accounts = accounts_of(state)
        advance(chain, "open-2", 200)
    made, follower = over("open-2", tmp_path)
    follower.refresh()
    names = ["viz", "nobody", "alice"]
    expected = f'"result":[{accounts["viz"]},{accounts["alice"]}]'
    assert expected in asked(made, "state_api", "get_accounts_at", 100, names)
    at_head = asked(made, "database_api", "get_accounts", names)
    assert asked(made, "state_api", "get_accounts_at", 200, names) == at_head
    assert at_head != asked(made, "state_api", "get_accounts_at", 100, names)
    assert '"account":"nobody","balance":"0.000 VIZ"' in asked(made, "state_api", "get_balances_at", 100, names)
