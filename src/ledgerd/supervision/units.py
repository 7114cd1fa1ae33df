"""What systemd is told of a service of this program: its unit, and the drop-in files beside it (`systemctl edit`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDERS = (
    "etc/systemd/system",
    "run/systemd/system",
    "usr/local/lib/systemd/system",
    "usr/lib/systemd/system",
    "lib/systemd/system",
)
"""The folders of unit files: of two files with the same name, systemd reads the one in the earlier folder."""
UNITS = "ledgerd*.service"
LONGEST = 1 << 20
"""Bytes of a file that are read."""
OTHER_COMMAND = re.compile(r"ledgerd(?:\.cli)?\s+[a-z]")
"""The beginning of a line that starts something else than a node: a signer, an explorer, an API node."""
_CONTINUED = re.compile(r"\\\n")


class Unit(NamedTuple):
    """A service: its file, and every value of its section `Service`, by names in lower case."""

    path: Path
    values: dict[str, list[str]]

    def last(self, name: str) -> str:
        return (self.values.get(name) or [""])[-1]

    def words(self, name: str) -> list[str]:
        return " ".join(self.values.get(name, [])).split()

    def starts_node(self) -> bool:
        """Whether it may start a node: it does if its command line names no other command."""
        return not OTHER_COMMAND.search(self.last("execstart"))


def units(root: Path = Path("/")) -> Iterator[Unit]:
    for path in _first_of_each_name(path for folder in FOLDERS for path in sorted((root / folder).glob(UNITS))):
        values: dict[str, list[str]] = {}
        for each in (path, *drop_ins(path.name, root)):
            for name, value in _service_lines(each):
                if value:
                    values.setdefault(name, []).append(value)
                else:  # an empty value takes back those before it
                    values[name] = []
        yield Unit(path, values)


def drop_ins(name: str, root: Path) -> list[Path]:
    found = _first_of_each_name(
        path for folder in FOLDERS for path in sorted((root / folder / f"{name}.d").glob("*.conf"))
    )
    return sorted(found, key=lambda path: path.name)


def _first_of_each_name(paths: Iterator[Path]) -> list[Path]:
    found: dict[str, Path] = {}
    for path in paths:
        found.setdefault(path.name, path)
    return list(found.values())


def _service_lines(path: Path) -> Iterator[tuple[str, str]]:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            text = file.read(LONGEST)
    except OSError:
        return
    section = ""
    for line in map(str.strip, _CONTINUED.sub(" ", text).splitlines()):
        if line.startswith("["):
            section = line
        elif section == "[Service]" and line and line[0] not in "#;":
            name, _, value = line.partition("=")
            yield name.strip().lower(), value.strip()
