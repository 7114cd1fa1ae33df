"""docs/moving-from-vizd.md, done as it says: on a directory of recorded blocks, and on a network to practise on."""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from ledgerd.cli.main import main
from tests.adopt.directories import digests, with_full_log
from tests.docs.guides import SMALLER, Reader, Step, lessons_of, steps_of
from tests.docs.ports import HOST, free_base
from tests.node.processes import LOOPBACK, NodeProcess
from tests.patience import PATIENCE

PAGE = "moving-from-vizd.md"
HELD, MORE = 120, 30
"""Blocks in the directory, and those that its `vizd` has made since."""
EVERY_WAY = "EVERY_WAY" in os.environ
"""`EVERY_WAY=1 scripts/test tests/docs/test_moving.py` hands the validator back, and over again with the same key."""
FIGURES = re.compile(r"[0-9a-f]{40}|[0-9][0-9,]*")


def ask(port: int, api: str, method: str, *arguments: object) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": "call", "params": [api, method, arguments]}
    with urlopen(f"http://{HOST}:{port}", json.dumps(body).encode(), timeout=PATIENCE) as answer:
        return json.loads(answer.read())["result"]


def wait_for_head(port: int, number: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            if ask(port, "database_api", "get_dynamic_global_properties")["head_block_number"] >= number:
                return
        except (URLError, ConnectionError):
            pass  # it does not listen yet
        time.sleep(0.1)
    raise AssertionError(f"no block {number}")


@contextmanager
def running_vizd(folder: Path, base: int) -> Iterator[None]:
    """What stands in for a `vizd`: a node of ours that has some blocks more."""
    source = with_full_log(folder / "whole", "open-1", HELD + MORE)
    assert main(["adopt", str(source), "--data-dir", str(folder / "peer"), "--chain", "testnet"]) == 0
    words = [each for each in LOOPBACK if "p2p" not in each and "http" not in each]
    words += [f"--p2p-endpoint={HOST}:{base + 1}", f"--webserver-http-endpoint={HOST}:{base}"]
    with NodeProcess("--data-dir", str(folder / "peer"), *words) as node:
        node.port()
        yield


def test_three_commands_lead_to_two_equal_nodes(tmp_path: Path) -> None:
    base = free_base()
    source = with_full_log(tmp_path / "vizd", "open-1", HELD)
    configuration = source / "config.ini"
    text = configuration.read_text().replace("127.0.0.1:8090", f"{HOST}:{base}")
    configuration.write_text(text.replace("192.0.2.1:2001", f"{HOST}:{base + 1}") + "shared-file-size = 128M\n")
    before = digests(source)
    running = {
        "ledgerd adopt /var": "ledgerd adopt --chain testnet /var",
        "ledgerd compare": "ledgerd compare --rate 100000 --reads 3",
        "/var/lib/vizd": str(source),
        "/var/lib/ledgerd": str(tmp_path / "ours"),
        "127.0.0.1:8090": f"{HOST}:{base}",
        "127.0.0.1:8100": f"{HOST}:{base + 10}",
    }
    (adopt, _), (start, _), (compare, shown) = [*lessons_of(PAGE, running)][:3]
    with running_vizd(tmp_path, base), Reader(tmp_path) as reader:
        assert f"adopted: head block {HELD} " in reader.take(adopt)
        reader.take(start)
        wait_for_head(base + 10, HELD + MORE)
        printed = reader.take(compare)

    assert digests(source) == before
    assert FIGURES.sub("N", printed.partition("\n")[2]) == FIGURES.sub("N", shown.partition("\n")[2])
    assert f"equal at block {HELD + MORE} " in printed


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Ports of a network; the reader's wallet asks its first node."""
    base = free_base()
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        monkeypatch.setenv("LEDGERD_NODE", f"http://{HOST}:{base + 100}")
        monkeypatch.setenv("LEDGERD_CLOCK_DIFFERENCE", "1000000")
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
        yield base


def test_a_validator_is_handed_over_between_real_nodes(tmp_path: Path, base: int) -> None:
    ports = {f"20{number:03}": str(base + number) for number in (0, 50, 51, 100, 150, 151, 250, 251)}
    first = [*steps_of("validators.md", {**ports, "--block-time 1": "--block-time 0.5", **SMALLER})]
    section = [each for each in steps_of(PAGE, ports) if "ours" in each.text]
    with Reader(tmp_path) as reader:
        reader.wait_for(reader.take(first[0]), "all on one head")
        for step in (each for each in first[1:8] if each.kind == "sh"):
            reader.take(step)
        reader.wait_for(reader.take(first[8]), "by alice with")

        prepare, start, walk, declare = section
        reader.take(prepare)
        reader.take(start)
        walked = reader.take(walk)
        reader.wait_for(walked, "NOW declare the key")
        rotated = reader.take(declare)
        reader.wait_for(walked, "handed over: our node makes the blocks of alice")
        reader.take(Step("sh", "ledgerd wallet lock"))
        assert "is signed with the new key" in rotated
        if EVERY_WAY:
            back_with_the_same_key(reader, walk.text, start.text)

    said = "".join(each.read_text() for each in tmp_path.glob("terminal-*.log"))
    assert "AT ONCE" not in said
    assert "DOPPELGANGER" not in said


STOP = """pid=$(cat {0}/writer.lock)
kill "$pid"
while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done"""


def back_with_the_same_key(reader: Reader, walk: str, start: str) -> None:
    """The new key goes to the other node, and comes again: in each of them it is while the other has none."""

    def stop(folder: str) -> None:
        reader.take(Step("sh", STOP.format(folder)))

    def begin(folder: str) -> None:
        reader.take(Step("sh background", start.replace("ours", folder)))

    same = re.sub(r' --key "[^"]*"', "", walk)
    stop("validator")
    keyless = "sed -i -e 's/^validator = /# &/' -e 's/^private-key-file = /# &/' {0}/config.ini"
    file = "s/^# private-key-file = .*/private-key-file = new.key/"
    keyed = f"sed -i -e 's/^# validator = /validator = /' -e '{file}' {{0}}/config.ini"

    walked = reader.take(Step("sh background", same.replace("--vizd", "--back --vizd")))
    reader.wait_for(walked, "take the key of alice out of the configuration of our node")
    stop("ours")
    reader.take(Step("sh", keyless.format("ours")))
    begin("ours")
    reader.wait_for(walked, "start http")
    reader.take(Step("sh", "cp ours/new.key validator/new.key; " + keyless.format("validator")))
    reader.take(Step("sh", keyed.format("validator")))
    begin("validator")
    reader.wait_for(walked, "handed over")

    walked = reader.take(Step("sh background", same))
    reader.wait_for(walked, "make sure that nothing starts it again")
    stop("validator")
    reader.wait_for(walked, "stop our node: last_signed_block")
    stop("ours")
    reader.wait_for(walked, "start our node with the same key")
    reader.take(Step("sh", keyed.format("ours")))
    begin("ours")
    reader.wait_for(walked, "handed over: our node makes the blocks of alice")
