"""The errors of consensus: a transaction or block breaks a rule of the protocol.

A violation carries what the network's clients see: the reference's code, its name, what it is in words, and the text
and values of this case (spec 01, section 14; spec 05, section 6).
"""

from __future__ import annotations

from typing import Self

from ledgerd.basics.printable import printable_lines
from ledgerd.codec.json.errors import Layer
from ledgerd.codec.json.text import Json
from ledgerd.protocol.secrets import without_keys


class RuleViolation(Exception):
    """A transaction or block breaks a rule; says which, with its values.

    The format is the reference's, in which `${name}` stands for a value, and its message derives from both: clients get
    all three.
    """

    code = 10
    name = "assert_exception"
    what = "Assert Exception"

    def __init__(self, layout: str, /, **values: Json) -> None:
        super().__init__(layout)
        self.layers = [Layer(layout, values)]
        """The rule, and what callers have added, the innermost first (spec 05, section 6.3)."""

    @property
    def message(self) -> str:
        return self.layers[0].text

    def under(self, layout: str = "", /, **values: Json) -> Self:
        """Add the layer of a caller that the violation passes."""
        self.layers.append(Layer(layout, values))
        return self

    def __str__(self) -> str:
        return self.message


class Overflow(RuleViolation):
    """A sum, difference or product above the largest amount."""

    code = 19
    name = "overflow_exception"
    what = "Integer Overflow"


class Underflow(RuleViolation):
    """A sum, difference or product below the smallest amount."""

    code = 20
    name = "underflow_exception"
    what = "Integer Underflow"


LONGEST_ERROR = 10_000
"""Characters of an error for the operator, which may quote a file that is no text."""


class OperatorError(Exception):
    """Something that the operator has to change; printed without a traceback, with what to do.

    No character of it moves a cursor. What it quotes of a stranger has to be `printable` before, or could begin a line.
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable_lines(shortened(without_keys(message), LONGEST_ERROR)))


def shortened(text: str, most: int) -> str:
    """Both ends of a longer text: an error begins with the place, and ends with what to do."""
    return text if len(text) <= most else f"{text[: most // 2]} [...] {text[-most // 2 :]}"


def require(condition: object, layout: str, /, **values: Json) -> None:
    """Raise unless the rule holds; the format is the reference's, its condition text included."""
    if not condition:
        raise RuleViolation(layout, **values)
