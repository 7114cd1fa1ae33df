"""Every precondition of an operation of hardforks 14 and 15 is broken by a test that also sees the operation taken.

That a refused operation leaves no trace is asked by `refuses` of the tests' ledgers, whatever the rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.preconditions import FAMILIES, FLOORS, OF_ALL, imports_family, is_in, rules_of_families, seen_by
from tests.house.source_tree import ROOT, python_files, write_tree


def faults(root: Path, families: tuple[str, ...] = FAMILIES) -> Iterator[str]:
    """Texts that no test of their family refuses for, or of which it sees one side only."""
    for place, texts in rules_of_families(root, families).items():
        floor, family = place.rsplit("/", 1)
        tests = python_files(root / "tests" / floor.split("/", maxsplit=1)[0])
        seen = [seen_by(each, root) for each in tests if is_of(each, family)]
        refused, taken = (frozenset[str]().union(*found) for found in zip(*seen, strict=True))
        for text in sorted(texts - OF_ALL.keys()):
            if not is_in(text, refused):
                yield f"{place}: no test refuses for `{text}`"
            elif not is_in(text, taken):
                yield f"{place}: no test sees both sides of `{text}`"


def is_of(test: Path, family: str) -> bool:
    return test.stem.startswith(f"test_{family}") or imports_family(test, family)


def test_every_precondition_is_seen_from_both_sides() -> None:
    assert [*faults(ROOT)] == []


def test_what_every_operation_asks_is_asked_by_its_test() -> None:
    for text, test in OF_ALL.items():
        assert text in seen_by(ROOT / test, ROOT).refused


SOURCE = """
from ledgerd.protocol.errors import RuleViolation, require

FIRST = "a > 0: Too small"

@evaluates(Bet)
def bet(ledger, operation):
    require(operation.a > 0, FIRST)
    _require_name(operation.b, "b")
    if not operation.c:
        raise RuleViolation("c: None there")

def _require_name(name, field):
    require(name, f"{field}.size() > 0: No ${{f}} among ${{n}}", f=field, n=len(field))
"""
TEST = """
def test_a_bet_asks_in_this_order():
    scene.asks_in_order([Rule("a > 0: Too small", {}, {}), Rule(f"b.size() > 0: No b among {count}", {}, {})])

def test_there_is_a_c():
    refuses(BET, "c: None there")
    carry_out(BET)
"""


def planted(root: Path, source: str = SOURCE, test: str = TEST) -> list[str]:
    empty = dict.fromkeys(
        ("src/ledgerd/protocol/operations/markets/bets.py", "tests/protocol/operations/markets/test_bets.py"), ""
    )
    files = {
        "src/ledgerd/chain/evaluators/markets/bets.py": source,
        "tests/chain/evaluators/markets/test_bets.py": test,
    }
    shared = {f"src/ledgerd/{each}": "" for paths in FLOORS.values() for each in paths if each.endswith(".py")}
    return [*faults(write_tree(root, {**empty, **shared, **files}), ("bets",))]


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("    require(operation.a > 0, FIRST)", '    require(operation.d, "d: None")', "no test refuses for `d: None`"),
        ('operation.b, "b"', 'operation.e, "e"', "no test refuses for `e.size() > 0: No e among *`"),
        ('"c: None there"', '"f: None there"', "no test refuses for `f: None there`"),
    ],
)
def test_a_new_precondition_without_a_test_is_found(tmp_path: Path, old: str, new: str, found: str) -> None:
    assert planted(tmp_path / "sound") == []
    assert planted(tmp_path / "planted", source=SOURCE.replace(old, new)) == [f"chain/evaluators/bets: {found}"]


def test_a_precondition_of_which_one_side_is_seen_is_found(tmp_path: Path) -> None:
    one_side = TEST.replace("    carry_out(BET)\n", "")
    assert planted(tmp_path, test=one_side) == ["chain/evaluators/bets: no test sees both sides of `c: None there`"]
