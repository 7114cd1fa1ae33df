"""The languages of the pages: texts by key, from `*_en.toml`, `*_ru.toml` and the declarations of operations."""

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
        self.properties = properties

    def text(self, key: str, **values: object) -> str:
        found = self.texts[key]
        if not isinstance(found, str):
            raise LookupError(f"{key} has plural forms")
        return found.format(**values) if values else found

    def title_of(self, operation: str) -> str:
        words = self.operations.get(operation)
        return operation if words is None else words.title

    def counted(self, key: str, number: int, shown: str = "") -> str:
        forms = self.texts[key]
        return forms[self.form(number)].format(n=shown or number)

    def form(self, number: int) -> int:
        if self.code == "en":
            return 0 if number == 1 else 1
        tens, ones = number // 10 % 10, number % 10
        if ones == 1 and tens != 1:
            return 0
        return 1 if ones in (2, 3, 4) and tens != 1 else 2


@cache
def language(code: str) -> Language:
    folder = files(__package__)
    named = (folder.joinpath(f"{part}_{code}.toml") for part in ("pages", "properties"))
    return Language(code, *(tomllib.loads(file.read_text(encoding="utf-8")) for file in named))


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
