"""The declared types of the blocking client are those of what is derived when a program runs."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module

import pytest

from scripts.generate_sdk_blocking import FOLDER, PREFIX, SDK, WAITING_CLASSES, present, type_files

ADDED = {"Client": {"close"}}
LEFT_OUT = {"PreparedTransaction": {"from_text"}}
"""Made of a text and a client, beside both."""


def declared(name: str) -> set[str]:
    """The names in the file of a class."""
    path = FOLDER / WAITING_CLASSES[name].removeprefix(f"{SDK}.").replace(".", "/")
    tree = ast.parse(path.with_suffix(".pyi").read_text(encoding="utf-8"))
    found = next(each for each in tree.body if isinstance(each, ast.ClassDef))
    assert found.name == PREFIX + name
    return {each.name for each in found.body if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")}


def test_the_files_are_those_of_todays_client() -> None:
    assert present() == type_files()


@pytest.mark.parametrize("name", WAITING_CLASSES)
def test_a_class_has_what_the_other_client_has(name: str) -> None:
    own = {each for each in vars(getattr(import_module(WAITING_CLASSES[name]), name)) if not each.startswith("_")}

    assert declared(name) == (own | ADDED.get(name, set())) - LEFT_OUT.get(name, set())


@pytest.mark.parametrize("path", sorted(present()))
def test_what_a_method_returns_does_not_have_to_be_awaited(path: str) -> None:
    tree = ast.parse((FOLDER / path).read_text(encoding="utf-8"))
    imports = [each for each in tree.body if isinstance(each, ast.ImportFrom)]
    modules = {name.name: each.module or "" for each in imports for name in each.names}
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each.returns]
    names = {name.id for each in functions for name in ast.walk(each.returns or each) if isinstance(name, ast.Name)}
    ours = {each for each in names if modules.get(each, "").startswith(SDK) and not each.startswith(PREFIX)}

    assert not [each for each in ours if is_awaited(getattr(import_module(modules[each]), each))]


def is_awaited(kind: object) -> bool:
    return any(inspect.iscoroutinefunction(inspect.getattr_static(kind, name)) for name in dir(kind))
