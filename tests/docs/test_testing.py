"""docs/testing.md, done as it says; and it names what a chain of a test has."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.testing.chain import DevChain
from tests.docs.guides import DOCUMENTS, Reader, lessons_of
from tests.docs.tutorials import go_through

DOCUMENT = "testing.md"
OF_THE_PLUGIN = {"close", "folder", "is_running", "isolated", "log_since", "log_size", "of", "revert", "start"} | {
    "take_baseline",
    "take_snapshot",
}
"""What the fixtures do with a chain, and tests do not."""


def test_the_examples_of_the_page_pass(tmp_path: Path) -> None:
    with Reader(tmp_path) as reader:
        go_through(reader, lessons_of(DOCUMENT, {}))


@pytest.mark.parametrize("name", sorted({name for name in dir(DevChain) if name[0] != "_"} - OF_THE_PLUGIN))
def test_the_page_names_all_that_a_chain_does(name: str) -> None:
    assert f"chain.{name}" in (DOCUMENTS / DOCUMENT).read_text(encoding="utf-8")
