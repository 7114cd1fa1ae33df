"""The version has one source, pyproject.toml: builds take it from there, programs ask the installed package."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from ledgerd.rpc.describe.openrpc import document_of
from scripts.build_program import version_of_sources
from scripts.set_version import PROJECTS, with_version
from tests.house.distributions import OURS
from tests.house.source_tree import PACKAGE, ROOT, nodes_of, parse, python_files, write_tree

OF_OTHERS = {"4.1.0": "the version of the network", "1.3.2": "the version of OpenRPC"}
"""Texts in the source that the version of this program may equal one day."""


def written_versions(root: Path, released: str) -> Iterator[str]:
    """Places in the source that have the version as a text, or a name for it that is given a text."""
    for path in python_files(root / "src" / PACKAGE, root / "scripts"):
        for node in nodes_of(parse(path)):
            match node:
                case ast.Constant(value=str(text)) if text == released and text not in OF_OTHERS:
                    yield f"{path.relative_to(root).as_posix()}:{node.lineno}"
                case ast.Assign(targets=[ast.Name(id="__version__")]):
                    yield f"{path.relative_to(root).as_posix()}:{node.lineno}"


def test_all_installed_packages_and_the_description_of_the_api_have_the_version_of_the_sources() -> None:
    found = {*map(version, OURS), document_of(())["info"]["version"]}  # type: ignore[call-overload,index] # JSON

    assert found == {version_of_sources()}, "run `scripts/setup`"


def test_no_source_has_the_version_written_into_it() -> None:
    assert [*written_versions(ROOT, version_of_sources())] == []


def test_a_version_in_the_source_is_found(tmp_path: Path) -> None:
    tree = write_tree(
        tmp_path,
        {f"src/{PACKAGE}/a.py": 'BANNER = "7.8.9"\n', "scripts/b.py": '__version__ = "1"\n', "scripts/c.py": "x = 7.8"},
    )

    assert [*written_versions(tree, "7.8.9")] == [f"src/{PACKAGE}/a.py:1", "scripts/b.py:1"]


@pytest.mark.parametrize("name", PROJECTS)
def test_the_files_of_all_projects_are_those_of_the_version(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")

    assert with_version(text, version_of_sources()) == text, "run `python -m scripts.set_version VERSION`"


def test_a_release_changes_version_and_dependency_together() -> None:
    text = 'version = "0.1.0"\n"ledgerd-client==0.1.0",  # both\n"lmdb>=1",\n'

    changed = with_version(text, "1.0.0")

    assert changed.splitlines() == [
        'version = "1.0.0"',
        '"ledgerd-client==1.0.0",  # both',
        '"lmdb>=1",',
    ]
