"""Figures are kept as they are measured, under the terms they were measured in."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from tests.attack.kept import Kept, Terms, read_figures, rows
from tests.attack.test_short_form import GOOD

TERMS = Terms("abc", 2, 64, 64, 150, "100")


def test_a_stopped_command_goes_on_with_what_is_left(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    Kept(path, TERMS).keep(replace(GOOD, kind="branches"))
    again = Kept(path, TERMS)
    assert again.left(["branches", "names"]) == ["names"]
    again.keep(replace(GOOD, kind="names"))
    assert Kept(path, TERMS).left(["branches", "names"]) == []
    assert read_figures(path) == {"branches": replace(GOOD, kind="branches"), "names": replace(GOOD, kind="names")}


def test_what_was_measured_in_other_terms_is_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    Kept(path, TERMS).keep(GOOD)
    assert Kept(path, replace(TERMS, commit="abd")).left([GOOD.kind]) == [GOOD.kind]
    assert Kept(path, TERMS, is_fresh=True).left([GOOD.kind]) == [GOOD.kind]
    assert Kept(path, TERMS).left([GOOD.kind]) == []


def test_a_row_shows_what_has_changed_and_what_has_not() -> None:
    table = rows([GOOD, replace(GOOD, kind="new")], {GOOD.kind: replace(GOOD, missed=2, broadcast=30.0)}).splitlines()
    assert table[0].count("|") == table[1].count("|") == table[2].count("|")
    assert "| `good` | 200 | 2 → 0 | 200 | 100 | 100 | 1.0 | 96.0% | 0.10 | 30.00 → 0.10 | 0.20 |" in table
    assert "→" not in table[3]
