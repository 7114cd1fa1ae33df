"""A node of ours compared with one that gives the answers that were recorded of a `vizd`: of June's, and of 4.1.0."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgerd.cli.main import main
from ledgerd.cli.tools.compare import EQUAL
from tests.compare.doubles import recorded_node
from tests.recorded import FOLDER

QUICK = ("--rate", "100000", "--seed", "7", "--reads", "20")
PRESENT = "4.1.0"
LEAST_RECORDED = 60
"""Answers that have to come from the recording."""


def recorded_results(chain: str, *files: str) -> Iterator[tuple[str, Any]]:
    """Each request of these files that got a result, as a text, and the result."""
    for file in files:
        text = lzma.decompress((FOLDER / chain / f"{file}.jsonl.xz").read_bytes()).decode("utf-8", "surrogateescape")
        for fact in map(json.loads, text.splitlines()):
            _, method, arguments = fact["request"]["params"]
            answer = json.loads(fact["answer"])
            if "result" in answer:
                yield json.dumps([method, arguments]), answer["result"]


def present(method: str, _arguments: list[Any], result: Any) -> Any:
    """A program of today, on a chain of any day."""
    return {**result, "CHAIN_VERSION": PRESENT} if method == "get_config" else result


@pytest.mark.parametrize(("chain", "height", "version"), [("open-2", 617, "3.2.0"), ("open-pm2", 463, "4.1.0")])
def test_ours_equals_a_vizd_by_its_recorded_answers(
    tmp_path: Path, chain: str, height: int, version: str, capsys: pytest.CaptureFixture[str]
) -> None:
    known = dict(recorded_results(chain, f"api-{height}", f"answers-{height}"))
    given = []

    def recorded(method: str, arguments: list[Any], result: Any) -> Any:
        request = json.dumps([method, arguments])
        if method == "get_config":
            return {**result, "CHAIN_VERSION": version}
        if request in known:
            given.append(request)
        return known.get(request, result)

    with (
        recorded_node(tmp_path / "vizd", recorded, chain, height) as vizd,
        recorded_node(tmp_path / "ours", present, chain, height) as ours,
    ):
        assert main(["compare", vizd, ours, *QUICK]) == EQUAL

    out = capsys.readouterr().out
    assert len(given) > LEAST_RECORDED
    assert (f"the versions differ, {version} and {PRESENT}: " in out) == (version != PRESENT)
    assert re.search(rf"^equal at block {height} ", out, re.MULTILINE)
