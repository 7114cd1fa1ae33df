"""How a node was started, or is by its unit: the options of its command line, its folder and its environment."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ledgerd.cli.arguments.node_arguments import node_arguments
from ledgerd.state.files.lock import holder_of
from ledgerd.supervision.units import LONGEST, Unit, units

PROGRAM = "ledgerd"
MODULE = ["-m", "ledgerd.cli"]
PREFIXES = "@-:+!|"
"""Characters that may stand before the program in `ExecStart`."""


class Start(NamedTuple):
    """What a node was given at its start besides its configuration file."""

    options: dict[str, list[str]]
    folder: Path
    environment: dict[str, str]

    def is_of(self, data_dir: Path) -> bool:
        return any((self.folder / each).resolve() == data_dir.resolve() for each in self.options.get("data-dir", ()))


def start_of(data_dir: Path, root: Path = Path("/")) -> Start | None:
    """How the node of a directory was started: the running one, else the systemd unit that starts one there; None if
    unknown.
    """
    process = holder_of(data_dir)
    found = None if process is None else _start_of_process(root / f"proc/{process}")
    if found is not None:
        return found
    starts = (_start_of_unit(unit, root) for unit in units(root))
    return next((start for start in starts if start and start.is_of(data_dir)), None)


def unit_of(data_dir: Path, root: Path = Path("/")) -> Unit | None:
    """The service that starts a node in a directory, if there is one."""
    return next((unit for unit in units(root) if (start := _start_of_unit(unit, root)) and start.is_of(data_dir)), None)


def options_in(words: Sequence[str]) -> dict[str, list[str]] | None:
    """The options of a node after the program in a command line; None if it is no node's."""
    words = list(words)
    after = next((at + 2 for at in range(len(words)) if words[at : at + 2] == MODULE), None)
    if after is None:
        after = next((at + 1 for at, word in enumerate(words) if Path(word).name == PROGRAM), None)
    if after is None or not words[after:] or not words[after].startswith("-"):
        return None
    return given_to_node(words[after:])


def given_to_node(words: Sequence[str]) -> dict[str, list[str]]:
    """The texts of the node's options; ends the program where one lacks its value."""
    chosen, _ = node_arguments(str, ()).parse_known_args(words)
    return dict(vars(chosen))


def _start_of_process(folder: Path) -> Start | None:
    try:
        options = options_in(_split(folder / "cmdline"))
        here = (folder / "cwd").readlink()
        environment = dict(_variables(_split(folder / "environ")))
    except OSError:  # of another user, or no Linux
        return None
    return None if options is None else Start(options, here, environment)


def _split(file: Path) -> list[str]:
    with file.open("rb") as opened:
        return opened.read(LONGEST).decode("utf-8", "surrogateescape").split("\0")[:-1]


def _variables(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, sign, value = text.partition("=")
        if sign:
            yield name, value


def _start_of_unit(unit: Unit, root: Path) -> Start | None:
    environment: dict[str, str] = {}
    with suppress(ValueError):  # quotes that do not end
        for text in unit.values.get("environment", []):
            environment.update(_variables(shlex.split(text)))
        for file in unit.words("environmentfile"):
            environment.update(_of_file(root / file.lstrip("-").lstrip("/")))
        words = shlex.split(unit.last("execstart").lstrip(PREFIXES))
        options = options_in([_expanded(word, environment) for word in words])
        if options is not None:
            return Start(options, Path(unit.last("workingdirectory").lstrip("-") or "/"), environment)
    return None


def _expanded(word: str, environment: Mapping[str, str]) -> str:
    for name, value in environment.items():
        word = word.replace(f"${{{name}}}", value)
    return word


def _of_file(file: Path) -> dict[str, str]:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace")[:LONGEST].splitlines()
    except OSError:
        return {}
    given = [line.strip() for line in lines if line.strip() and line.strip()[0] not in "#;"]
    return {name: value.strip("\"'") for name, value in _variables(given)}
