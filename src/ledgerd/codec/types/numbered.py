"""Families of records that are told apart by a number on the wire: the messages of a protocol."""

from __future__ import annotations

from typing import ClassVar, TypeVar

import msgspec


class NumberedRecord(msgspec.Struct, frozen=True):
    """The base of a family. Each record of it names its number by the class keyword `tag`."""

    NUMBER: ClassVar[int]


NumberedFamily = TypeVar("NumberedFamily", bound=NumberedRecord)


def by_number(family: type[NumberedFamily]) -> dict[int, type[NumberedFamily]]:
    """The records of a family by their numbers. To be called once, below the last of them: it sets `NUMBER`."""
    for each in family.__subclasses__():
        each.NUMBER = int(each.__struct_config__.tag or 0)
    return {each.NUMBER: each for each in family.__subclasses__()}
