"""The grammar of configuration files (spec 06, section 4.1): from text to keys and values with their lines."""

from __future__ import annotations

from typing import NamedTuple

BYTE_ORDER_MARK = "\ufeff"
WHITE_SPACE = " \t\n\v\f\r"


class InvalidLine(Exception):
    """A line that is neither a section, nor a key with a value, nor empty."""

    def __init__(self, number: int, line: str) -> None:
        super().__init__(f"the options configuration file contains an invalid line '{line}'")
        self.number = number


class IniEntry(NamedTuple):
    """A key with its value, in which quotes are characters like any other."""

    line: int
    section: str
    key: str
    value: str

    @property
    def full_key(self) -> str:
        return f"{self.section}.{self.key}" if self.section else self.key


def parse_ini(text: str) -> list[IniEntry]:
    entries = []
    section = ""
    for number, whole in enumerate(text.removeprefix(BYTE_ORDER_MARK).split("\n"), start=1):
        line = whole.partition("#")[0].strip(WHITE_SPACE)
        if not line:
            continue
        if line.startswith("[") and line.endswith("]") and line.strip("[.]"):
            section = line[1:-1].removesuffix(".")
            continue
        key, sign, value = line.partition("=")
        if not sign:
            raise InvalidLine(number, line)
        entries.append(IniEntry(number, section, key.rstrip(WHITE_SPACE), value.lstrip(WHITE_SPACE)))
    return entries
