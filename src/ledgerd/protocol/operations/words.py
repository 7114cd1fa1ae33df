"""What people read of an operation: a title and a sentence of a language, with places for its fields.

A sentence stands beside the fields that it names. How their values are shown is the business of whoever shows them.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

NO = "no_"
"""How the name of a case begins that holds where nothing is in a field: no amount, false, or its default."""


class Words(msgspec.Struct, frozen=True):
    """An operation in one language."""

    title: str
    """In a word or two."""
    sentence: str
    """`{name}` stands for the field of this name in JSON, or for a property of the operation."""
    cases: Mapping[str, str]
    """Sentences for operations of which something holds; the first one that fits is taken."""


def says(title: str, sentence: str, **cases: str) -> Words:
    """The words of a language.

    A case is named by a property of the operation, or `no_FIELD`: where nothing is in the field.
    """
    return Words(title, sentence, cases)
