"""Reads a Dockerfile: its instructions, by stage. What they do is done by `image`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

KNOWN = frozenset(
    {"ARG", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "RUN", "STOPSIGNAL", "VOLUME", "WORKDIR"}
)
"""The instructions that ours consists of; another one is a mistake, or needs to be learnt here and in `image`."""

_VARIABLE = re.compile(r"\$\{(\w+)\}")


class Instruction(NamedTuple):
    """One instruction, with the lines that continue it."""

    name: str
    text: str

    @property
    def words(self) -> list[str]:
        """What it consists of, as JSON or set apart by blanks; a health check's command begins after CMD."""
        text = self.text.rpartition("CMD ")[2] if self.name == "HEALTHCHECK" else self.text
        words: list[str] = json.loads(text) if text.startswith("[") else text.split()
        return words


class Stage(NamedTuple):
    """A stage: what it is made from, and how."""

    name: str
    base: str
    instructions: tuple[Instruction, ...]

    def all(self, name: str) -> list[Instruction]:
        """The instructions of one name."""
        return [each for each in self.instructions if each.name == name]


class Dockerfile(NamedTuple):
    """The arguments before the first stage, and the stages in their order."""

    arguments: Mapping[str, str]
    stages: tuple[Stage, ...]

    def stage(self, name: str) -> Stage:
        return next(stage for stage in self.stages if stage.name == name)

    def chain(self, name: str) -> list[Stage]:
        """A stage, and before it those that it is made from."""
        stage = self.stage(name)
        below = [each.name for each in self.stages]
        return [*(self.chain(stage.base) if stage.base in below else []), stage]


def filled_in(text: str, values: Mapping[str, str]) -> str:
    """A text with its variables replaced; one without a value is a fault."""
    return _VARIABLE.sub(lambda found: values[found[1]], text)


def _instructions(text: str) -> Iterator[Instruction]:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        if line.strip():
            name, _, rest = line.strip().partition(" ")
            if name not in KNOWN:
                raise ValueError(f"an instruction that nobody knows: {line}")
            yield Instruction(name, rest.strip())


def read_dockerfile(path: Path) -> Dockerfile:
    """The instructions of a file, by stage."""
    arguments: dict[str, str] = {}
    stages: list[Stage] = []
    for each in _instructions(path.read_text(encoding="utf-8")):
        if each.name == "FROM":
            base, _, name = each.text.partition(" AS ")
            stages.append(Stage(name, filled_in(base, arguments), ()))
        elif not stages:
            name, _, value = each.text.partition("=")
            arguments[name] = value
        else:
            last = stages[-1]
            stages[-1] = last._replace(instructions=(*last.instructions, each))
    return Dockerfile(arguments, tuple(stages))
