"""CONTRIBUTING.md: the operation that it adds, in three files and nowhere else, is known everywhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ledgerd.protocol.operations import OPERATIONS
from tests.house.source_tree import PACKAGE, ROOT
from tests.patience import PATIENCE

BLOCKS = re.findall(
    r"^```python\n(.*?)^```",
    (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Add an operation")[2],
    re.MULTILINE | re.DOTALL,
)
"""The three files, in their order."""


def overlay(folder: Path, added: dict[str, str]) -> Path:
    """The source as it is, with files added: links to everything, but for the folders in which they lie."""
    package = folder / PACKAGE
    opened = {package, *(parent for name in added for parent in (package / name).parents if package in parent.parents)}
    for each in sorted(opened):
        each.mkdir()
        for original in (ROOT / "src" / PACKAGE / each.relative_to(package)).iterdir():
            if original.name != "__pycache__" and each / original.name not in opened:
                (each / original.name).symlink_to(original)
    for name, text in added.items():
        (package / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tag is that of the next operation, whichever that is by now."""
    declaration, evaluator, test = BLOCKS
    declared = re.sub(r"tag=[0-9]+", f"tag={len(OPERATIONS)}", declaration)
    families = {"protocol/operations/greetings.py": declared, "chain/evaluators/greetings.py": evaluator}
    folder = overlay(tmp_path_factory.mktemp("source"), families)
    (folder / "test_greetings.py").write_text(test, encoding="utf-8")
    return folder


def run(source: Path, *words: str) -> None:
    done = subprocess.run(  # noqa: S603 - our own tests
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_test_of_the_operation_passes(source: Path) -> None:
    run(source, "-o", "addopts=--import-mode=importlib", str(source / "test_greetings.py"))


def test_an_operation_that_is_listed_nowhere_is_known_everywhere(source: Path) -> None:
    run(source, "tests/docs/greetings_everywhere.py")
