r"""Makes a stranger's text safe to print: on a terminal, in a log line, in what a person is asked to sign.

Such a text can move a cursor, end its line and begin one of its own, turn the direction of writing, or show nothing
where something stands. What it could do so with is written out as Python writes it, `\x1b`. A text that could still be
mistaken is put in quotes by `shown_text`.
"""

from __future__ import annotations

import re

QUOTE = '"'
LONGEST_RUN = 8
"""Spaces in succession that are shown; a line of them would look like the end of a text, and wrap like the next one."""

_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters, marks and signs that are printable for Unicode, and print nothing."""
_LONG_RUN = re.compile(f" {{{LONGEST_RUN + 1},}}")


def is_shown(letter: str) -> bool:
    """Whether a character is seen where it stands, does nothing else, and is no space but the usual one."""
    return letter.isprintable() and (letter.isascii() or not _BLANK.match(letter))


def printable(text: str) -> str:
    if text.isprintable() and (text.isascii() or not _BLANK.search(text)):
        return text
    return text.translate({ord(each): _written_out(each) for each in set(text)})


def printable_lines(text: str) -> str:
    """Several lines, some of which quote strangers. Who could begin a line of their own is quoted by `printable`."""
    return "\n".join(map(printable, text.split("\n")))


def shown_text(text: str) -> str:
    """A text in one line, in quotes where it could be taken for something else: for nothing, for two, or for less."""
    if printable(text) == text == text.strip() and text and not text.startswith(QUOTE) and "  " not in text:
        return text
    inside = "".join(f"\\{each}" if each in (QUOTE, "\\") else _written_out(each) for each in text)
    return QUOTE + _LONG_RUN.sub(_counted, inside) + QUOTE


def _written_out(letter: str) -> str:
    return letter if is_shown(letter) else letter.encode("unicode_escape").decode("ascii")


def _counted(run: re.Match[str]) -> str:
    """No text comes to look like this: its own backslashes are doubled."""
    return f"\\{{{len(run[0])} spaces}}"
