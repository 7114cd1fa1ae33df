"""The lower floors are handed time, network and entropy: they reach for none of them themselves."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house.source_tree import PACKAGE, ROOT, imports, nodes_of, parse, python_files, write_tree

PURE_ROOMS = ("codec", "pricing", "protocol", "chain", "state")

CLOCKS = {"time", "sched"}
ENTROPY = {"random", "secrets", "uuid", "os.urandom", "os.getrandom"}
NETWORK = {"asyncio", "http", "select", "selectors", "socket", "socketserver", "ssl", "urllib.request"}
FORBIDDEN = CLOCKS | ENTROPY | NETWORK

# Calls that read the clock or the pool of entropy through a module whose other names are harmless.
FORBIDDEN_ATTRIBUTES = {
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("date", "today"),
    ("os", "urandom"),
    ("os", "getrandom"),
}


def is_forbidden(target: str) -> bool:
    words = target.split(".")
    return any(".".join(words[: count + 1]) in FORBIDDEN for count in range(len(words)))


def reaches_outside(src: Path) -> list[str]:
    """Every place in the pure rooms that reads the clock, entropy or the network."""
    found = []
    for path in python_files(*(src / PACKAGE / room for room in PURE_ROOMS)):
        name = path.relative_to(src / PACKAGE).as_posix()
        found += [f"{name}:{i.line}: {i.target}" for i in imports(path, src) if is_forbidden(i.target)]
        for node in nodes_of(parse(path)):
            if isinstance(node, ast.Attribute):
                match node.value:
                    case ast.Name(id=owner) | ast.Attribute(attr=owner):
                        if (owner, node.attr) in FORBIDDEN_ATTRIBUTES:
                            found.append(f"{name}:{node.lineno}: {owner}.{node.attr}")
    return found


def test_the_lower_floors_read_no_clock_no_entropy_and_no_network() -> None:
    assert reaches_outside(ROOT / "src") == []


@pytest.mark.parametrize("room", PURE_ROOMS)
@pytest.mark.parametrize(
    "text",
    [
        "import time",
        "from time import monotonic",
        "import random as dice",
        "from secrets import token_bytes",
        "import uuid",
        "import socket",
        "import asyncio.subprocess",
        "from urllib import request",
        "from os import urandom",
        "def key():\n    import secrets",
        "import os\nos.urandom(32)",
        "import datetime\ndatetime.datetime.now()",
        "from datetime import datetime, timezone\ndatetime.now(timezone.utc)",
        "from datetime import date\ndate.today()",
        "import importlib\nimportlib.import_module('time')",
    ],
)
def test_a_reach_outside_is_found(tmp_path: Path, room: str, text: str) -> None:
    assert len(reaches_outside(write_tree(tmp_path, {f"{PACKAGE}/{room}/deep/rule.py": text}))) == 1


@pytest.mark.parametrize("room", ["rpc", "p2p", "producer", "history", "snapshot", "node", "cli"])
def test_the_upper_floors_may_reach_outside(tmp_path: Path, room: str) -> None:
    assert reaches_outside(write_tree(tmp_path, {f"{PACKAGE}/{room}/clock.py": "import time, socket"})) == []


def test_what_is_harmless_is_no_fault(tmp_path: Path) -> None:
    text = "import calendar, os, lmdb\nfrom datetime import datetime\nfrom ledgerd.protocol.time import Time\n"

    assert reaches_outside(write_tree(tmp_path, {f"{PACKAGE}/state/store.py": text})) == []
