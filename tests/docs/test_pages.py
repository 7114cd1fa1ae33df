"""README.md and docs/architecture.md show what there is: the picture, and the inner rooms."""

from __future__ import annotations

import re
from html import unescape

from ledgerd.node.testnet.table import COLUMNS
from tests.house.source_tree import PACKAGE, ROOT

WITH_INNER_ROOMS = ("node", "p2p", "rpc", "chain", "wallet", "explorer")
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


def test_the_architecture_names_every_inner_room() -> None:
    document = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = document.partition("### Inner rooms")[2].partition("\n## ")[0]

    assert [name for name in inner_rooms() if f"`{name}`" not in table] == []
    named = set(re.findall(r"`(\w+/?)`", table)) - set(WITH_INNER_ROOMS)
    beneath = {f"{path.name}/" for path in (ROOT / "src" / PACKAGE / "chain" / "rules").iterdir() if path.is_dir()}
    assert sorted(named - set(inner_rooms()) - beneath) == []


def inner_rooms() -> list[str]:
    """What stands at the top of these rooms: folders with a slash, modules by their names."""
    found = []
    for room in WITH_INNER_ROOMS:
        for path in sorted((ROOT / "src" / PACKAGE / room).iterdir()):
            if path.is_dir() and (path / "__init__.py").exists():
                found.append(f"{path.name}/")
            elif path.suffix == ".py" and path.stem != "__init__":
                found.append(path.stem)
    return found
