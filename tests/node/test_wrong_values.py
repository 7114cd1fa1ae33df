"""A wrong value of any option, in the file and on the command line: the place, the option, and what to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.node.config.options.declaration import Option
from ledgerd.node.config.options.sections import every_option
from ledgerd.node.config.values.kind import OptionKind, WrongValue
from tests.node.configurations import problems

NONSENSE = ("?", "", "%", "-", "[", "99999999999999999999999", "a b", ":", "999.0.0.1:1", "x:99999")
TAKE_ANYTHING = {"TEXT", "PATH"}
"""Kinds of values that no text is wrong for."""

OPTIONS = [option for option in every_option() if option.kind.word not in TAKE_ANYTHING]


def wrong_text(kind: OptionKind[object]) -> str:
    """A text that this kind does not take."""
    for text in NONSENSE:
        try:
            kind.read(text)
        except WrongValue:
            return text
    raise AssertionError(f"{kind.word} takes everything")


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_a_wrong_value_is_told_with_its_place_and_with_what_to_write(tmp_path: Path, option: Option) -> None:
    text = wrong_text(option.kind)
    name = option.name.replace("-", "_")
    written = [(problems(tmp_path, "", **{name: (text,)}), "command line: --", " ")]
    if not option.command_line_only:
        written.append((problems(tmp_path, f"# mine\n{option.name} = {text}"), "FILE:2: ", " = "))

    for found, place, sign in written:
        (problem,) = set(found)
        assert problem.startswith(f"{place}{option.name}")
        assert f". It takes {option.kind.takes}, for example: " in problem
        assert f"{option.name}{sign}" in problem.partition("for example: ")[2] + sign
        if option.kind.secret and text:
            assert f"{option.name}{sign}{text}:" not in problem


def test_only_texts_and_paths_accept_any_value() -> None:
    free = {option.kind.word for option in every_option()} & TAKE_ANYTHING

    assert free == TAKE_ANYTHING
    assert len(OPTIONS) > 60
