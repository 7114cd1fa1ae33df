"""docs/sdk.md: its programs run as they stand, but for the address of the node, and print what the page shows."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.guides import Lesson, assert_printed, lessons_of
from tests.node.processes import NodeProcess
from tests.patience import PATIENCE

PROGRAMS = ("read.py", "several.py", "blocks.py", "operations.py", "blocking.py", "errors.py")


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    folder = tmp_path_factory.mktemp("node")
    words = ("dev", "--data-dir", str(folder), "--block-time", "0", "--http", "127.0.0.1:0", "--ws", "127.0.0.1:0")
    with NodeProcess(*words) as running:
        running.port()
        running.call("dev_api", "mine_blocks", 40)
        yield running


def lessons(port: int) -> dict[str, Lesson]:
    found = lessons_of("sdk.md", {"127.0.0.1:8090": f"127.0.0.1:{port}"})
    return {each.step.kind.partition(" ")[2]: each for each in found}


def test_every_program_of_the_page_is_run() -> None:
    assert set(PROGRAMS) == set(lessons(1))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_the_page_prints_what_the_page_shows(node: NodeProcess, tmp_path: Path, name: str) -> None:
    lesson = lessons(node.port())[name]
    (tmp_path / name).write_text(lesson.step.text, encoding="utf-8")
    run = subprocess.run(  # noqa: S603 - a program of our page
        [sys.executable, name], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert run.returncode == 0, run.stderr
    assert_printed(lesson.shown, run.stdout)
