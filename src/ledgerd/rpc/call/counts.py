"""How many arguments a method takes, and the reference's words for a wrong number (spec 05, sections 5.3 and 6.4).

Its macros meant to print the number that was expected and print their own parameter's name; clients know it so.
"""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.rpc.call.errors import Filled


class Count(NamedTuple):
    """The least and the largest number of arguments; `None` for no upper end."""

    least: int
    most: int | None
    refusal: str = ""
    """Condition and explanation; `${n}` stands for the number of arguments that came."""

    def check(self, given: int) -> None:
        """Refuse a wrong number of arguments, unless the method does not count."""
        if self.refusal and not (self.least <= given and (self.most is None or given <= self.most)):
            raise Filled(self.refusal, {"n": given} if "${n}" in self.refusal else {})


def exactly(number: int, macro: str = "s") -> Count:
    """One number, counted by the macro that most APIs use; the later APIs have one whose parameter is `_S`."""
    return Count(number, number, f"args.args->size() == {number}: Expected #{macro} argument(s), was ${{n}}")


def from_to(least: int, most: int) -> Count:
    """A range, counted by the macro of the committee, the invites and the paid subscriptions."""
    return Count(
        least,
        most,
        f"args.args->size() >= {least} && args.args->size() <= {most}: "
        "Expected #_S (maximum #_M) argument(s), was ${n}",
    )


def between(least: int, most: int) -> Count:
    """A range, counted by the macro of the delegations."""
    return Count(least, most, f"n_args >= {least} && n_args <= {most}: Expected #min-#max arguments, got ${{n}}")


def one_or_two() -> Count:
    """One argument or two, counted by a method of its own."""
    condition = "args.args->size() == 1 || args.args->size() == 2"
    return Count(1, 2, f"{condition}: Expected 1-2 arguments, was ${{n}}")


def broadcast(condition: str, least: int, most: int | None, expected: str = "at least 1 argument") -> Count:
    """The broadcasts, which count only after they have given the arguments away: they always see none."""
    return Count(least, most, f"{condition}: Expected {expected}, got 0")


UNCOUNTED = Count(0, None)
"""More arguments than are read are ignored; one that is read and missing is refused when it is read."""
