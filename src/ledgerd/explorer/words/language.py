"""The languages of the pages: every text by its key, from the files `*_en.toml`, `*_ru.toml`, and what declarations of
operations say. English is complete by definition, and each other language has to have the same keys.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from ledgerd.protocol.operations import OPERATIONS
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.roles import Words

CODES = ("en", "ru")
"""The first is for who asks for none of them."""

NAMES = {"en": "English", "ru": "Русский"}

# Spaces are never given back, or a run of them would be divided between two places in every way.
_TAG = re.compile(r"\s*+([A-Za-z]{1,8})(?:-[A-Za-z0-9-]+)?\s*+(?:;\s*+q=([0-9.]{1,5}))?\s*+")


class Language:
    """One language."""

    def __init__(
        self,
        code: str,
        texts: Mapping[str, str | Sequence[str]],
        properties: Mapping[str, str],
    ) -> None:
        self.code = code
        self.texts = texts
        self.operations: Mapping[str, Words] = {name_of(each): getattr(each, code.upper()) for each in OPERATIONS}
        """Titles and sentences of operations, by their names."""
        self.properties = properties
        """Properties of the chain in a few words, by their names."""

    def text(self, key: str, **values: object) -> str:
        """A text with values in it."""
        found = self.texts[key]
        if not isinstance(found, str):
            raise LookupError(f"{key} has plural forms")
        return found.format(**values) if values else found

    def title_of(self, operation: str) -> str:
        """An operation in a word or two; its name, where this program does not know it."""
        words = self.operations.get(operation)
        return operation if words is None else words.title

    def counted(self, key: str, number: int, shown: str = "") -> str:
        """A text in the form that goes with a number."""
        forms = self.texts[key]
        return forms[self.form(number)].format(n=shown or number)

    def form(self, number: int) -> int:
        """Which of the plural forms goes with a number."""
        if self.code == "en":
            return 0 if number == 1 else 1
        tens, ones = number // 10 % 10, number % 10
        if ones == 1 and tens != 1:
            return 0
        return 1 if ones in (2, 3, 4) and tens != 1 else 2


@cache
def language(code: str) -> Language:
    """The language of a code."""
    return Language(code, *(_read(f"{part}_{code}.toml") for part in ("pages", "properties")))


def _read(name: str) -> dict[str, str]:
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def preferred(accepted: str) -> str:
    """The code of the language that a browser likes best (`Accept-Language`)."""
    best, most = CODES[0], 0.0
    for part in accepted[:500].split(","):
        found = _TAG.fullmatch(part)
        if found and found[1].lower() in CODES:
            try:
                weight = float(found[2] or 1)
            except ValueError:
                continue
            if weight > most:
                best, most = found[1].lower(), weight
    return best
