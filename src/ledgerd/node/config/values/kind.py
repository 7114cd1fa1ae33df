"""Kinds of option values: parsing, printing, and a description of valid texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

T = TypeVar("T")


class WrongValue(Exception):
    """A text that is not valid for its kind; the message gives the reason and never repeats a secret."""


class Argument(Enum):
    """Whether and how an option is followed by a value on the command line."""

    REQUIRED = "a value"
    OPTIONAL = "a value, or nothing"
    NONE = "nothing"


@dataclass(frozen=True, slots=True)
class OptionKind(Generic[T]):
    """One kind of value."""

    word: str
    """Stands for a value in `--help`."""
    takes: str
    """The form of its texts, to follow "takes" and "must be"."""
    example: str
    read: Callable[[str], T]
    """Raises `WrongValue`."""
    show: Callable[[T], str] = str
    secret: bool = False
    argument: Argument = Argument.REQUIRED
    bare: str = ""
    """The text that an option without a value on the command line stands for."""


def refusing(fault: type[Exception], read: Callable[[str], T]) -> Callable[[str], T]:
    """Reads with a function of another room, and turns its fault into that of a wrong value."""

    def checked(text: str) -> T:
        try:
            return read(text)
        except fault as problem:
            raise WrongValue(str(problem)) from None

    return checked
