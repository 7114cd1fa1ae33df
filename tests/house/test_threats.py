"""`docs/threats.md` names bounds and tests: each bound has that value in the code, and each test is there."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.source_tree import ROOT, parse

DOCUMENT = ROOT / "docs" / "threats.md"

_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
_BOUND = re.compile(r"`([a-z][\w.]*)\.([A-Z][A-Z_0-9]*) = ([0-9.]+)`")


def rows(text: str) -> Iterator[str]:
    """The rows of the tables that name a test for what they say."""
    for table in re.split(r"\n(?!\|)", text):
        lines = [line for line in table.splitlines() if line.startswith("|")]
        if lines and lines[0].rstrip().endswith("| test |"):
            yield from lines[2:]


def faults(text: str) -> Iterator[str]:
    for row in rows(text):
        named = _TEST.findall(row)
        if not named:
            yield f"no test: {row}"
        for path, name in named:
            if not _has_test(ROOT / path, name):
                yield f"{path} has no {name}"
        for module, name, value in _BOUND.findall(row):
            found = getattr(importlib.import_module(f"ledgerd.{module}"), name, None)
            if found != float(value):
                yield f"{module}.{name} is {found}, not {value}"
        if row.count("|") != 6:
            yield f"not five columns: {row}"


def _has_test(path: Path, name: str) -> bool:
    if not path.exists():
        return False
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in parse(path).body)


def test_every_threat_has_its_test_and_its_bound() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert len(list(rows(text))) >= 20
    assert list(faults(text)) == []


def test_a_missing_test_and_another_bound_are_found() -> None:
    head = "| what | cost | holds | bound | test |\n|---|---|---|---|---|\n"
    row = "| a | b | c | {} | {} |"
    there = "`tests/house/test_threats.py::test_every_threat_has_its_test_and_its_bound`"
    bound = "`basics.addresses.OWN_NETWORK = 64`"
    assert list(faults(head + row.format(bound, there))) == []
    assert len(list(faults(head + row.format(bound.replace("64", "65"), there)))) == 1
    assert len(list(faults(head + row.format("`p2p.shared.allowances.GONE = 1`", there)))) == 1
    assert len(list(faults(head + row.format("", "`tests/house/test_threats.py::test_gone`")))) == 1
    assert len(list(faults(head + row.format("", "")))) == 1
