"""Every section of the law says what it is proven by, in `docs/spec/PROOFS.md`; and what it says is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.proofs import (
    FACTS,
    NONE,
    PAGE,
    PARTS,
    TEXT,
    VECTORS,
    Proof,
    counted_operations,
    is_record,
    read_proofs,
)
from tests.house.recordings import count_table, in_blocks, precondition_table
from tests.house.source_tree import ROOT, parse, write_tree
from tests.house.specification import read_specification


def sections_of(root: Path) -> list[tuple[str, str]]:
    """Those of the law without further ones below them."""
    spec = read_specification(root / "docs" / "spec")
    return [
        (part, section)
        for part in PARTS
        for section in spec[part].sections
        if not any(other.startswith(f"{section}.") for other in spec[part].sections)
    ]


def faults(root: Path) -> Iterator[str]:
    proofs = read_proofs(root)
    listed, standing = [proof[:2] for proof in proofs], sections_of(root)
    yield from (f"spec {part}, {section}: is not listed" for part, section in standing if (part, section) not in listed)
    yield from (f"spec {part}, {section}: is no section" for part, section in listed if (part, section) not in standing)
    for proof in proofs:
        yield from (f"spec {proof.part}, {proof.section}: {fault}" for fault in _faults_of(proof, root))


def _faults_of(proof: Proof, root: Path) -> Iterator[str]:
    if not proof.kinds or not set(proof.kinds) <= {FACTS, VECTORS, TEXT, NONE}:
        yield f"is proven by {', '.join(proof.kinds)}"
    if (NONE in proof.kinds) == bool(proof.tests):
        yield "has a rule and no test, or a test and no rule"
    if (FACTS in proof.kinds) != bool(proof.recorded):
        yield "names no record, or one that is no proof"
    yield from (f"no block has {each}" for each in proof.recorded if not is_record(each) and not in_blocks()[each])
    yield from (f"{each} is not there" for each in proof.tests if not is_there(root / "tests", each))


def is_there(tests: Path, name: str) -> bool:
    """Whether a test module is there, and in it, where one is named, a test."""
    path, _, test = name.partition("::")
    if not (tests / path).is_file():
        return False
    functions = {node.name for node in parse(tests / path).body if isinstance(node, ast.FunctionDef)}
    return (
        test in functions
        if test
        else any(each.startswith("test_") for each in functions)
        or "class Test" in (tests / path).read_text(encoding="utf-8")
    )


def test_every_section_of_the_law_says_what_it_is_proven_by() -> None:
    assert [*faults(ROOT)] == []


def test_the_counts_are_those_of_the_recordings() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    for table in (count_table(counted_operations(read_proofs(ROOT))), precondition_table()):
        assert "\n".join(table) in page


SOUND = "| 1 | Bets | facts | pm_place_bet | `bets/test_bets.py::test_a_bet` |"


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("", "is not listed"),
        (SOUND.replace("| 1 |", "| 2 |") + "\n" + SOUND, "is no section"),
        (SOUND.replace("test_a_bet`", "test_no_bet`"), "bets/test_bets.py::test_no_bet is not there"),
        (SOUND.replace("test_bets.py", "test_gone.py"), "bets/test_gone.py::test_a_bet is not there"),
        (SOUND.replace("pm_place_bet", "author_reward"), "no block has author_reward"),
        (SOUND.replace("| pm_place_bet |", "|  |"), "names no record, or one that is no proof"),
        (SOUND.replace("facts", "hope").replace("pm_place_bet", ""), "is proven by hope"),
        ("| 1 | Bets | text |  |  |", "has a rule and no test, or a test and no rule"),
    ],
)
def test_a_row_that_is_wrong_is_found(tmp_path: Path, row: str, fault: str) -> None:
    files = {f"docs/spec/{part}-x.md": "" for part in PARTS}
    files["docs/spec/08-x.md"] = "## 1. Bets\n"
    files["tests/bets/test_bets.py"] = "def test_a_bet():\n    pass\n"
    sound = write_tree(tmp_path / "sound", {**files, str(PAGE): f"## Part 08\n\n{SOUND}\n"})
    assert [*faults(sound)] == []

    planted = write_tree(tmp_path / "planted", {**files, str(PAGE): f"## Part 08\n\n{row}\n"})
    assert [found for found in faults(planted) if found.endswith(fault)]
