"""Parses the texts given for the options of a section to the record of that section."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ledgerd.node.config.given import ConfigurationError, Given
from ledgerd.node.config.options.declaration import Option, OptionSection, SectionContext, WrongTogether
from ledgerd.node.config.values.kind import WrongValue

R = TypeVar("R")

_BETWEEN_WORDS = re.compile(r"[ \t,]+")


class Setting(NamedTuple):
    """An option with its value as printed, and where it was given; nowhere for a default."""

    section: str
    option: Option
    shown: tuple[str, ...]
    where: tuple[str, ...]


@dataclass(slots=True)
class OptionReader:
    """Reads one section after the other, and collects problems and warnings."""

    given: Mapping[str, Sequence[Given]]
    problems: list[str]
    settings: list[Setting] = field(default_factory=list)
    without_meaning: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def section(self, section: OptionSection[R], data_dir: Path, current_dir: Path) -> R:
        values = {name: self._option(section.title, option) for name, option in section.fields.items()}
        for option in section.without_meaning:
            self._unused(option)
        if self.problems:
            raise ConfigurationError(self.problems)
        try:
            return section.made(values, SectionContext(data_dir, current_dir, self.remarks.append))
        except WrongTogether as problem:
            places = self.given.get(problem.option) or [Given("", None)]
            self.problems.append(f"{places[-1].where}: {problem.option} {problem}")
            raise ConfigurationError(self.problems) from None

    def _option(self, section: str, option: Option) -> Any:  # noqa: ANN401 - of the type that the option declares
        found: list[tuple[str, Given]] = []
        for spelled in (*option.older(), option):
            for each in self.given.get(spelled.name, ()):
                found.append((spelled.name, each))
                if warning := _warning(spelled, option):
                    self.remarks.append(f"{each.where}: {spelled.name} {warning}")
        if not option.repeatable:
            found = found[-1:]  # the present name's, where a former one is given too
        if found:
            values = [value for name, each in found for value in self._values(option, name, each)]
        else:
            values = [option.kind.read(text) for text in option.defaults]
        where = tuple(each.where for _, each in found)
        self.settings.append(Setting(section, option, tuple(map(option.kind.show, values)), where))
        if option.repeatable:
            return tuple(values)
        return values[0] if values else None

    def _values(self, option: Option, name: str, given: Given) -> list[Any]:
        texts = [word for word in _BETWEEN_WORDS.split(given.text) if word] if option.words else [given.text]
        values = []
        for text in texts:
            try:
                values.append(option.kind.read(_sound(text)))
            except WrongValue as problem:
                shown = given.named(name)
                if not option.kind.secret:
                    shown = given.written(name, text)
                self.problems.append(
                    f"{given.where}: {shown}: {problem}. It takes {option.kind.takes}, for example: "
                    f"{given.written(name, option.shown)}"
                )
        return values

    def _unused(self, option: Option) -> None:
        given = self.given.get(option.name)
        if given:
            self._values(option, option.name, given[0])
            self.without_meaning.append(option.name)


def _warning(spelled: Option, option: Option) -> str:
    """The warning for the name under which an option was given, which is an older one or goes; empty if there
    is none.
    """
    parts = [f"is an older name of {option.name}"] if spelled is not option else []
    if spelled.leaves_in:
        parts.append(f"goes with version {spelled.leaves_in}")
    return ", and ".join(parts)


def _sound(text: str) -> str:
    """No path and no address has a NUL character, and the orders of processes, in which values are, are UTF-8."""
    if "\0" in text:
        raise WrongValue("holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise WrongValue("is not UTF-8") from None
    return text
