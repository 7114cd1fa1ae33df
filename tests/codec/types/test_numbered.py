"""Families of records that are told apart by a number."""

from __future__ import annotations

from ledgerd.codec.types.numbered import NumberedRecord, by_number


class Word(NumberedRecord, frozen=True):
    """A family."""


class Yes(Word, frozen=True, tag=7):
    """One of its records."""


class No(Word, frozen=True, tag=3):
    """Another one."""


def test_the_records_of_a_family_are_found_by_their_tags() -> None:
    assert by_number(Word) == {7: Yes, 3: No}


def test_each_record_has_its_number() -> None:
    by_number(Word)
    assert (Yes.NUMBER, No.NUMBER) == (7, 3)
