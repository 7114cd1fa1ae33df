"""What a node writes while it runs: JSON where it is asked for, and what `ledgerd dev` shows to a developer."""

from __future__ import annotations

import json
from pathlib import Path

from tests.node.processes import PROGRAM, NodeProcess, words_of_testnet


def test_with_log_format_json_everything_that_a_node_writes_is_an_object_a_line(tmp_path: Path) -> None:
    some = ("prlimit", "--nofile=700:700", *PROGRAM)
    words = words_of_testnet(tmp_path, "--p2p-max-connections=8", "--log-format=json")

    with NodeProcess(*words, program=some) as node:
        node.wait_for("the limit of open files is 700")  # of an API worker
        node.wait_for("Validated block #2 ")
        assert node.stop() == 0

    events = [json.loads(line) for line in node.lines]
    made = next(event for event in events if event["message"].startswith("Validated block #2 "))
    assert (made["room"], made["level"], made["fields"]["block"]) == ("producer", "info", 2)
    assert {"time", "level", "room", "logger", "message", "fields"} == set.intersection(*map(set, events))
    assert events[-1]["message"] == "exited cleanly"


def test_why_a_node_cannot_start_is_an_object_too(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "block_log").write_bytes(b"no blocks")

    with NodeProcess(*words_of_testnet(tmp_path, "--log-format=json")) as node:
        assert node.wait() == 255

    last = json.loads(node.lines[-1])
    assert last["level"] == "error"
    assert "block_log" in last["message"]


def test_dev_shows_the_box_first_and_then_a_line_for_each_block(tmp_path: Path) -> None:
    words = ("--http=127.0.0.1:0", "--ws=127.0.0.1:0", "--block-time=3600")
    with NodeProcess("dev", "--data-dir", str(tmp_path / "chain"), *words) as node:
        port = node.port()
        node.call("dev_api", "mine_blocks", 2)
        node.wait_for(": empty", 2)
        assert node.stop() == 0

    assert node.lines[0].startswith("A chain to develop on")
    assert f"  HTTP       http://127.0.0.1:{port}" in node.lines
    box_end = node.lines.index("")
    blocks = [line for line in node.lines if line.endswith(" by viz: empty")]
    assert [line.split("  ")[1].split(" by ")[0] for line in blocks[:2]] == ["block 22", "block 23"]
    assert all(line in blocks for line in node.lines[-2 - len(blocks) : -2])
    assert box_end > 0
    assert [line.split("  ")[1] for line in node.lines[-2:]] == ["asked to stop", "exited cleanly"]


def test_dev_writes_json_where_it_is_asked_for(tmp_path: Path) -> None:
    words = ("dev", "--data-dir", str(tmp_path / "chain"), "--http=127.0.0.1:0", "--ws=127.0.0.1:0")
    with NodeProcess(*words, "--block-time=3600", "--log-format=json") as node:
        node.port()
        node.call("dev_api", "mine_blocks", 1)
        node.wait_for("by viz: empty")
        assert node.stop() == 0

    events = [json.loads(line) for line in node.lines if line.startswith("{")]
    assert {"block": 22, "validator": "viz", "content": "empty"} in [event["fields"] for event in events]
