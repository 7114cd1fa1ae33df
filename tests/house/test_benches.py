"""Each bench can be run by `python -m bench`: it has a `main()` that asks for nothing."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from bench.__main__ import main, names
from tests.house.source_tree import ROOT, parse, write_tree


def benches_without_main(folder: Path) -> list[str]:
    """The benches that the runner finds and could not start."""
    return [
        path.name
        for path in sorted(folder.glob("bench_*.py"))
        if not any(
            isinstance(node, ast.FunctionDef) and node.name == "main" and not node.args.args
            for node in parse(path).body
        )
    ]


def test_every_bench_has_a_main() -> None:
    assert benches_without_main(ROOT / "bench") == []


@pytest.mark.parametrize("text", ["", "def run(): ...", "def main(n): ...", "if True:\n    def main(): ..."])
def test_a_bench_without_a_main_is_found(tmp_path: Path, text: str) -> None:
    tree = write_tree(tmp_path, {"bench_bad.py": text, "bench_good.py": "def main(): ...", "cost.py": ""})

    assert benches_without_main(tree) == ["bench_bad.py"]


def test_no_bench_measures_a_copy_of_a_loaded_process() -> None:
    """All nodes are started in one place, by their program."""
    callers = {
        path.name
        for path in (ROOT / "bench").glob("*.py")
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "NodeProcess"
    }

    assert callers == {"nodes.py"}


def test_every_bench_is_discovered() -> None:
    assert names() == sorted(path.stem[len("bench_") :] for path in (ROOT / "bench").glob("bench_*.py"))


def test_a_bench_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coffee"]) == 2
    assert "there is no coffee" in capsys.readouterr().err
