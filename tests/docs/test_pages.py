"""README.md and docs/architecture.md show what there is: the picture, and the rooms."""

from __future__ import annotations

import re
from html import unescape

from ledgerd.node.testnet.table import COLUMNS
from scripts.generate_rooms_docs import DOCUMENT, with_rooms
from tests.house.source_tree import ROOT

PICTURE = "docs/images/testnet.svg"


def test_the_readme_shows_a_network_that_agrees() -> None:
    """The picture is what `scripts/draw_testnet.py` drew of a network; draw it again when the table changes."""
    assert f"]({PICTURE})" in (ROOT / "README.md").read_text(encoding="utf-8")
    drawn = (ROOT / PICTURE).read_text(encoding="utf-8")
    text = unescape(re.sub(r"<[^>]+>", "\n", drawn)).replace("\xa0", " ")

    words = text.split()
    assert all(column in words for column in COLUMNS)
    assert "all on one head" in text
    assert [f"node-{number}" in words for number in range(1, 6)] == [True] * 5
    assert "http" not in "".join(re.findall(r"(?:href|src|url)[=(][^>)]*", drawn))


def test_the_architecture_has_the_rooms_as_they_are() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    assert with_rooms(document) == document


def test_a_room_that_was_moved_makes_the_architecture_out_of_date() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    moved = document.replace("| `blocks/` |", "| `packs/` |")
    assert moved != document
    assert with_rooms(moved) == document
