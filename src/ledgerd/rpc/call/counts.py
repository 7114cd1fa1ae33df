"""The number of arguments of a method, and the reference's text for a wrong number (spec 05, sections 5.3 and 6.4).

Its macros print the name of their parameter where the expected number was meant; clients know that text.
"""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.protocol.errors import RuleViolation


class Count(NamedTuple):
    """The least and the largest number of arguments; `None` for no limit."""

    least: int
    most: int | None
    refusal: str = ""
    """Condition and explanation; `${n}` stands for the given number of arguments."""

    def check(self, given: int) -> None:
        if self.refusal and not (self.least <= given and (self.most is None or given <= self.most)):
            raise RuleViolation(self.refusal, n=given) if "${n}" in self.refusal else RuleViolation(self.refusal)


def exactly(number: int, macro: str = "s") -> Count:
    """One number, in the words of the macro that most APIs use; that of later APIs has the parameter `_S`."""
    return Count(number, number, f"args.args->size() == {number}: Expected #{macro} argument(s), was ${{n}}")


def from_to(least: int, most: int) -> Count:
    """A range, in the words of the macro for committee, invites and paid subscriptions."""
    return Count(
        least,
        most,
        f"args.args->size() >= {least} && args.args->size() <= {most}: "
        "Expected #_S (maximum #_M) argument(s), was ${n}",
    )


def between(least: int, most: int) -> Count:
    """A range, in the words of the macro for delegations."""
    return Count(least, most, f"n_args >= {least} && n_args <= {most}: Expected #min-#max arguments, got ${{n}}")


def either(least: int, most: int) -> Count:
    """One of two numbers that follow each other, in the words of the methods that check this themselves."""
    condition = f"args.args->size() == {least} || args.args->size() == {most}"
    return Count(least, most, f"{condition}: Expected {least}-{most} arguments, was ${{n}}")


def broadcast(condition: str, least: int, most: int | None, expected: str = "at least 1 argument") -> Count:
    """The broadcasts, which check the number after they have moved the arguments away, and so report none."""
    return Count(least, most, f"{condition}: Expected {expected}, got 0")


UNCOUNTED = Count(0, None)
"""Superfluous arguments are ignored; a missing one is refused when it is read."""
