"""docs/deposits.md: both watchers have each deposit once, through a fork and two kills."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from ledgerd.rpc.call.limits import Limits
from tests.docs.guides import DOCUMENTS
from tests.rpc.api.history.test_server_events import service_over
from tests.rpc.api.history.test_stream import Story
from tests.rpc.loopback import play, serving, until
from tests.rpc.sample_api import Main

DOCUMENT = (DOCUMENTS / "deposits.md").read_text(encoding="utf-8")
NODE = "http://127.0.0.1:8090"
MOST_LINES = 40
"""Of a watcher, without those that are empty."""

Books = Callable[[Path], list[str]]


def books_of_python(folder: Path) -> list[str]:
    if not (folder / "deposits.db").exists():
        return []
    books = sqlite3.connect(f"file:{folder / 'deposits.db'}?mode=ro", uri=True)
    try:
        return [key for (key,) in books.execute("SELECT id FROM deposits ORDER BY rowid")]
    except sqlite3.OperationalError:
        return []  # it is being made, or written
    finally:
        books.close()


def books_of_js(folder: Path) -> list[str]:
    file = folder / "deposits.jsonl"
    lines = file.read_text(encoding="utf-8").split("\n")[:-1] if file.exists() else []
    return [deposit["id"] for line in lines for deposit in json.loads(line)["deposits"]]


def program(language: str) -> str:
    [found] = re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    return str(found)


def deposits_in(story: Story) -> list[str]:
    """Those that are irreversible, in the order of the chain."""
    return [
        f"{each['block']}-{each['trx_in_block']}-{each['op_in_trx']}-{each['virtual_op']}"
        for each in story.expected(story.teller.irreversible)
        if each["op"][0] == "transfer" and each["op"][1]["to"] == "alice" != each["op"][1]["from"]
    ]


def grow(story: Story, main: Main, blocks: int, reversible: int) -> None:
    for _ in range(blocks):
        story.teller.block([[story.random.randint(0, 200) for _ in range(3)] for _ in range(3)])
    story.teller.advance(reversible)
    story.teller.commit()
    main.publish(b"")


@pytest.mark.parametrize(
    ("language", "interpreter", "books"),
    [("python", sys.executable, books_of_python), ("js", shutil.which("node"), books_of_js)],
)
def test_a_watcher_has_each_deposit_once_through_a_fork_and_two_kills(
    language: str, interpreter: str | None, books: Books, tmp_path: Path
) -> None:
    if interpreter is None and not os.environ.get("CI"):
        pytest.skip("Node.js is not installed")
    assert interpreter is not None
    story, main = Story(tmp_path / "chain", Random(5)), Main()  # noqa: S311 - a story, no secret
    file = tmp_path / f"watcher.{language}"

    async def scene() -> None:
        async with serving(service_over(story, main, Limits())) as server:
            file.write_text(program(language).replace(NODE, f"http://127.0.0.1:{server.port}"), encoding="utf-8")
            for turn in range(3):
                watcher = await asyncio.create_subprocess_exec(interpreter, str(file), cwd=tmp_path)
                grow(story, main, 6, reversible=3)
                await until(lambda: books(tmp_path) == deposits_in(story))
                grow(story, main, 2, reversible=4)
                if turn == 1:
                    story.teller.undo(3)
                    grow(story, main, 5, reversible=1)
                if turn == 2:
                    grow(story, main, 0, reversible=0)
                    await until(lambda: books(tmp_path) == deposits_in(story))
                watcher.kill()
                await watcher.wait()

    play(scene)
    found = books(tmp_path)
    assert len(found) == len(set(found)) > 10
    story.close()


@pytest.mark.parametrize("language", ["python", "js"])
def test_a_watcher_is_short(language: str) -> None:
    assert len([line for line in program(language).splitlines() if line.strip()]) <= MOST_LINES
