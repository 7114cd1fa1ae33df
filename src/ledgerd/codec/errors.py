"""The documented error of every codec, which names the place in the input.

The `code` is the number that the network's clients know the failure by (spec 01, section 14); the text after the path
is the reference's where clients match on it.
"""

from __future__ import annotations

PARSE_ERROR = 4
BAD_CAST = 7
OUT_OF_RANGE = 8
ASSERTION = 10
EOF = 11
FOREIGN = 13
"""A failure inside a library of the reference, which the first of its callers has wrapped."""


class CodecError(ValueError):
    """Bytes or JSON that cannot be decoded, or a value that cannot be encoded."""

    def __init__(self, text: str, code: int = ASSERTION) -> None:
        super().__init__(text)
        self.text = text
        self.code = code
        self.path: list[str] = []

    def within(self, step: str) -> CodecError:
        """Prefix one step to the path: a field name, or an index in brackets."""
        self.path.insert(0, step)
        return self

    @property
    def place(self) -> str:
        """The path as a reader writes it: `operations[2].transfer.amount`."""
        return "".join(step if step.startswith("[") else f".{step}" for step in self.path).lstrip(".")

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.path else self.text


class DecodeError(CodecError):
    """The input is not a canonical or acceptable form of the type."""


class EncodeError(CodecError):
    """The value does not fit the type it is declared as."""
