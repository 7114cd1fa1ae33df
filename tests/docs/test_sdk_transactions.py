"""docs/sdk-transactions.md: each example, run beside `ledgerd dev`, prints what the page says."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.guides import assert_printed, lessons_of
from tests.node.processes import NodeProcess

NODE = "http://127.0.0.1:8090"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("dev")
    words = ("dev", "--block-time", "0", "--fresh", "--data-dir", str(folder / "data"), "--http", "127.0.0.1:0")
    with NodeProcess(*words) as node:
        yield f"http://127.0.0.1:{node.port()}"


def test_every_example_prints_what_the_page_shows(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lessons = [each for each in lessons_of("sdk-transactions.md", {NODE: url}) if each.step.kind.startswith("python ")]
    assert len(lessons) == 5
    for step, shown in lessons:
        program = tmp_path / step.kind.split()[1]
        program.write_text(step.text, encoding="utf-8")
        runpy.run_path(str(program), run_name="__main__")
        assert_printed(shown, capsys.readouterr().out)
