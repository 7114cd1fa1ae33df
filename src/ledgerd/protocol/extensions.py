"""Extensions of operations and transactions: a set of variants of which only the empty one exists (spec 01, 2.7)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec import Void, one_of, sorted_by


def by_alternative(value: object) -> str:
    """Variants are ordered, and equal, by their alternative alone; of equals the first stays (spec 01, section 2.7)."""
    return type(value).__name__


FutureExtension = Annotated[Void, one_of(memory=8)]

Extensions = Annotated[tuple[FutureExtension, ...], sorted_by(by_alternative)]
