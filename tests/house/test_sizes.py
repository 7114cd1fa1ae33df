"""The size of files and of functions: what does not fit on a screen has become two things."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house.source_tree import ROOT, nodes_of, parse, python_files, write_tree

LINES_OF_A_FILE = 450
LINES_OF_A_FUNCTION = 60
FOLDERS = ("src", "tests", "bench", "scripts")


def oversized(root: Path) -> list[str]:
    """Files and functions over their limit; a function is counted from its `def`, docstring included."""
    found = []
    for path in python_files(*(root / folder for folder in FOLDERS)):
        name = path.relative_to(root).as_posix()
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > LINES_OF_A_FILE:
            found.append(f"{name}: {lines} lines")
        for node in nodes_of(parse(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > LINES_OF_A_FUNCTION:
                    found.append(f"{name}:{node.lineno}: {node.name} has {length} lines")
    return found


def function(lines: int, define: str = "def f():") -> str:
    return define + "\n" + "    x = 1\n" * (lines - 1)


def test_nothing_is_oversized() -> None:
    assert oversized(ROOT) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_file_of_451_lines_is_found(tmp_path: Path, folder: str) -> None:
    tree = write_tree(tmp_path, {f"{folder}/deep/long.py": "x = 1\n" * 451})

    assert oversized(tree) == [f"{folder}/deep/long.py: 451 lines"]


@pytest.mark.parametrize("define", ["def f():", "async def f():"])
def test_a_function_of_61_lines_is_found(tmp_path: Path, define: str) -> None:
    tree = write_tree(tmp_path, {"src/long.py": function(61, define)})

    assert oversized(tree) == ["src/long.py:1: f has 61 lines"]


def test_a_long_method_and_a_long_inner_function_are_found(tmp_path: Path) -> None:
    method = "class C:\n    def f(self):\n" + "        x = 1\n" * 60
    inner = "if True:\n    def g():\n" + "        x = 1\n" * 60

    assert len(oversized(write_tree(tmp_path, {"src/method.py": method, "src/inner.py": inner}))) == 2


def test_450_lines_and_functions_of_60_are_no_fault(tmp_path: Path) -> None:
    tree = write_tree(tmp_path, {"src/full.py": function(60) + "x = 1\n" * 390})

    assert oversized(tree) == []
