"""What is given for options: command line, then environment, then file (spec 06, sections 4.4 and 19, R2.4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ledgerd.basics.printable import printable
from ledgerd.node.config.ini import IniEntry
from ledgerd.node.config.options.sections import BY_NAME
from ledgerd.node.config.values.values import nearest
from ledgerd.protocol.errors import OperatorError, shortened
from ledgerd.protocol.secrets import without_keys

LOGGING_SECTIONS = ("log.", "logger.")


MOST_PROBLEMS, LONGEST_PROBLEM = 100, 2_000
"""The faults that are told of a configuration, and the characters of each."""


class ConfigurationError(OperatorError):
    """The errors of a configuration, a line each, with the remedy: all of them, up to a number."""

    def __init__(self, problems: Sequence[str]) -> None:
        shown = [printable(shortened(without_keys(each), LONGEST_PROBLEM)) for each in problems[:MOST_PROBLEMS]]
        if len(problems) > MOST_PROBLEMS:
            shown.append("there are more faults after these")
        super().__init__("\n".join(shown))
        self.problems = tuple(shown)


class Given(NamedTuple):
    """One text given for an option."""

    text: str
    file: Path | None
    """None for the command line."""
    line: int = 0
    variable: str = ""

    @property
    def where(self) -> str:
        if self.variable:
            return "environment"
        return "command line" if self.file is None else f"{self.file}:{self.line}"

    def named(self, name: str) -> str:
        if self.variable:
            return self.variable
        return f"--{name}" if self.file is None else name

    def written(self, name: str, text: str) -> str:
        if self.variable:
            return f"{self.variable}={text}"
        return f"--{name} {text}".rstrip() if self.file is None else f"{name} = {text}".rstrip()


def gather(
    command_line: Mapping[str, Sequence[str]], entries: Iterable[IniEntry], file: Path | None, problems: list[str]
) -> tuple[dict[str, list[Given]], list[IniEntry]]:
    """The texts by option, those of the command line first; and the keys of the logging sections."""
    given = {name: [Given(text, None) for text in texts] for name, texts in command_line.items() if texts}
    in_file: dict[str, list[Given]] = {}
    sections = []
    for entry in entries:
        if len(problems) > MOST_PROBLEMS:
            break
        if f"{entry.section}.".startswith(LOGGING_SECTIONS) and entry.key not in BY_NAME:
            sections.append(entry)
        elif fault := _fault(entry):
            problems.append(f"{file}:{entry.line}: {fault}")
        else:
            in_file.setdefault(entry.key, []).append(Given(entry.value, file, entry.line))
    for layer in (given, in_file):
        _check_single(layer, problems)
    for name, more in in_file.items():
        if BY_NAME[name].repeatable:
            given.setdefault(name, []).extend(more)
        else:
            given.setdefault(name, more)
    return given, sections


def _fault(entry: IniEntry) -> str:
    option = BY_NAME.get(entry.key)
    if option is None and entry.section:
        return f"there is no section [{entry.section}]; there are [log.console_appender.NAME] and [logger.NAME]"
    if option is None:
        known = [name for name, each in BY_NAME.items() if not each.command_line_only]
        return f"{entry.key}: there is no such option; the nearest one is {nearest(entry.key, known)}"
    if entry.section:
        return f"{entry.key} stands in section [{entry.section}]: move it above the first section of the file"
    if option.command_line_only:
        return f"{entry.key} is an option of the command line alone: remove it here, and start with --{entry.key}"
    return ""


def _check_single(layer: Mapping[str, list[Given]], problems: list[str]) -> None:
    for name, values in layer.items():
        if len(values) > 1 and not BY_NAME[name].repeatable:
            first, second = values[:2]
            also = f", and stands in line {first.line} too" if first.file else ""
            problems.append(
                f"{second.where}: option '{name}' cannot be specified more than once{also}: keep one of them"
            )


SEEDS = "NODE_SEED_NODES"
WITNESS = "NODE_WITNESS"
PRIVATE_KEY = "NODE_PRIVATE_KEY"

SEED_OPTIONS = ("p2p-seed-node", "seed-node")
PLUGIN = "validator"
"""The plugin that makes blocks; no other plugin depends on it."""

_BETWEEN_WORDS = re.compile(r"[\s,]+")


def add_environment(environment: Mapping[str, str], options: dict[str, list[Given]], remarks: list[str]) -> None:
    """Add the values of the variables to the given ones; seeds replace those of the file."""
    seeds = _words(environment.get(SEEDS, ""))
    if seeds:
        for name in SEED_OPTIONS:
            options[name] = [given for given in options.get(name, ()) if given.file is None]
        options[SEED_OPTIONS[0]] += [Given(each, None, variable=SEEDS) for each in seeds]
    makes_blocks = any(PLUGIN in _words(given.text) for given in options.get("plugin", ()))
    for variable, option in ((WITNESS, "validator"), (PRIVATE_KEY, "private-key")):
        text = environment.get(variable, "").strip()
        if text and makes_blocks:
            options.setdefault(option, []).append(Given(text, None, variable=variable))
        elif text:
            remarks.append(f"environment: {variable} is not used: the plugin {PLUGIN} is not among those that run")


def _words(text: str) -> list[str]:
    return [word for word in _BETWEEN_WORDS.split(text) if word]
