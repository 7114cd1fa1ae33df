"""Functions that would do nothing in silence, or fail at their first call, are refused where they are declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ledgerd.app.declaring.application import Application
from ledgerd.app.errors import WrongDeclaration
from ledgerd.protocol.operations.money.transfers import Transfer

DECLARED: tuple[Callable[[Application], Callable[[Any], object]], ...] = (
    lambda application: application.on(Transfer),
    lambda application: application.on_block,
    lambda application: application.on_irreversible,
    lambda application: application.migration(2),
)


async def later(*_: object) -> None:
    """Runs when it is awaited, which nobody does."""


def little_by_little(*_: object) -> Iterator[int]:
    yield 1


def of_too_many(_first: object, _second: object, _third: object) -> None:
    """Takes more than any of them gets."""


def of_places(_tables: object, *_more: object) -> None:
    """Has parameters without names."""


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (later, "shop: later is asynchronous, and nothing of it would run: write a plain function"),
        (little_by_little, "shop: little_by_little is a generator, and nothing of it would run"),
        (of_too_many, "shop: of_too_many would be called as of_too_many.*: missing a required argument"),
    ],
)
def test_what_could_not_be_called_as_it_will_be_is_refused(
    declared: Callable[[Application], Callable[[Any], object]], function: object, words: str
) -> None:
    with pytest.raises(WrongDeclaration, match=words):
        declared(Application("shop", version=2))(function)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (later, "shop: later is asynchronous"),
        (little_by_little, "shop: little_by_little is a generator"),
        (of_places, "shop: the method of_places must take the tables, then named parameters"),
        (lambda: None, "or its name is not of small letters"),
    ],
)
def test_a_method_is_a_plain_function_of_the_tables_and_of_named_parameters(function: Any, words: str) -> None:
    with pytest.raises(WrongDeclaration, match=words):
        Application("shop").method(function)
