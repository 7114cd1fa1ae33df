"""Whatever module lies in a folder of families belongs to them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ledgerd.protocol.operations.variant import modules_of


def test_every_module_of_a_folder_is_imported_in_the_order_of_the_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "kin").mkdir()
    for name in ("__init__", "uncles", "aunts"):
        (tmp_path / "kin" / f"{name}.py").write_text("")
    (tmp_path / "kin" / "notes.txt").write_text("")

    assert [each.__name__ for each in modules_of("kin", str(tmp_path / "kin"))] == ["kin.aunts", "kin.uncles"]

    for name in ("kin", "kin.aunts", "kin.uncles"):
        sys.modules.pop(name)
