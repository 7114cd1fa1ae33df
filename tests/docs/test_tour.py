"""docs/tour.md: every file that it links to exists, and defines the name that the link shows."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.docs.guides import DOCUMENTS
from tests.house.source_tree import parse, write_tree

LINK = re.compile(r"\[`([A-Za-z_.]+)`\]\(([^)#]+\.py)\)")
FEWEST = 30
"""A tour with fewer stops than this leaves out a floor."""


def names_of(module: ast.Module) -> set[str]:
    """What a file defines at its top, and the methods of its classes."""
    found: set[str] = set()
    for node in module.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name, body=body):
                methods = [each for each in body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
                found |= {name, *(f"{name}.{method.name}" for method in methods)}
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
    return found


def wrong_names(document: Path) -> list[str]:
    """Names that the linked file does not define, or whose file is not there."""
    wrong = []
    for name, target in LINK.findall(document.read_text(encoding="utf-8")):
        path = document.parent / target
        if not path.is_file() or name not in names_of(parse(path)):
            wrong.append(f"{name} in {target}")
    return wrong


def test_every_name_is_defined_where_its_link_leads() -> None:
    assert wrong_names(DOCUMENTS / "tour.md") == []


def test_the_tour_passes_through_every_floor() -> None:
    links = LINK.findall((DOCUMENTS / "tour.md").read_text(encoding="utf-8"))

    assert len(links) >= FEWEST
    rooms = {Path(target).parts[3] for _, target in links}
    assert rooms >= {"protocol", "state", "chain", "p2p", "rpc", "producer", "node"}


@pytest.mark.parametrize("link", ["[`Gone`](src/a.py)", "[`A.gone`](src/a.py)", "[`A`](src/b.py)", "[`x.y`](src/a.py)"])
def test_a_name_that_is_not_there_is_found(tmp_path: Path, link: str) -> None:
    text = f"Good: [`A`](src/a.py) [`A.run`](src/a.py) [`go`](src/a.py) [`LIMIT`](src/a.py). Bad: {link}"
    source = "LIMIT: int = 3\nclass A:\n    async def run(self) -> None: ...\ndef go() -> None: ...\n"
    tree = write_tree(tmp_path, {"tour.md": text, "src/a.py": source})

    assert len(wrong_names(tree / "tour.md")) == 1
