"""Builds the file system of an image the way its Dockerfile says, without an engine: each stage is a layer of files.

Needs Linux and root.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.packaging.container import FIRST_PROCESS, PATH
from tests.packaging.dockerfile import Dockerfile, Instruction, Stage, filled_in


def _linked(source: str, target: str) -> None:
    """A copy that costs nothing, where both lie on one file system: an image's files are never written to."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@dataclass
class Image:
    """The layers of a stage from the lowest on, and what a container of it starts with."""

    base: Path
    layers: list[Path] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": PATH})
    folder: str = "/"
    entrypoint: list[str] = field(default_factory=list)
    volumes: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)

    def of(self, path: str) -> Path:
        """Where a file of the image lies."""
        return next(place for layer in reversed(self.layers) if (place := layer / path.lstrip("/")).exists())


@dataclass
class Builder:
    """Builds images into a folder, from sources, over a base."""

    dockerfile: Dockerfile
    context: Path
    base: Path
    folder: Path
    arguments: Mapping[str, str] = field(default_factory=dict)
    """What the build is told in place of the Dockerfile's own defaults."""
    given: Mapping[str, Path] = field(default_factory=dict)
    """Stages that are not built: what to copy in place of all that is asked of them."""
    skips: Callable[[Instruction], bool] = lambda _: False
    network: Mapping[str, str] = field(default_factory=dict)
    """What else a step of the build has in its environment, such as where pip finds certificates."""
    _built: dict[str, Image] = field(default_factory=dict)

    def build(self, name: str) -> Image:
        """The image of a stage; one that was built before is not built again."""
        if name not in self._built:
            self._built[name] = self._build(self.dockerfile.stage(name))
        return self._built[name]

    def _build(self, stage: Stage) -> Image:
        names = {each.name for each in self.dockerfile.stages}
        below = self.build(stage.base) if stage.base in names else Image(self.base)
        layer = self.folder / stage.name
        layer.mkdir()
        image = Image(
            below.base,
            [*below.layers, layer],
            dict(below.environment),
            below.folder,
            list(below.entrypoint),
            list(below.volumes),
            list(below.health),
        )
        arguments: dict[str, str] = {}
        for each in stage.instructions:
            if not self.skips(each):
                self._do(image, each, arguments)
        return image

    def _do(self, image: Image, each: Instruction, arguments: dict[str, str]) -> None:
        values = {**arguments, **image.environment}
        match each.name:
            case "ARG":
                name, _, value = each.text.partition("=")
                arguments[name] = self.arguments.get(name, value.strip('"'))
            case "ENV":
                name, _, value = each.text.partition("=")
                image.environment[name] = filled_in(value, values)
            case "WORKDIR":
                image.folder = each.text
                (image.layers[-1] / each.text.lstrip("/")).mkdir(parents=True, exist_ok=True)
            case "COPY":
                self._copy(image, each.words)
            case "RUN":
                self._run(image, each.text, values)
            case "ENTRYPOINT":
                image.entrypoint = each.words
            case "VOLUME":
                image.volumes += each.words
            case "HEALTHCHECK":
                image.health = each.words

    def _copy(self, image: Image, words: list[str]) -> None:
        *sources, place = words
        target = image.layers[-1] / os.path.join(image.folder, place).lstrip("/")  # noqa: PTH118 - keeps a last slash
        if sources[0].startswith("--from="):
            stage = sources.pop(0).partition("=")[2]
            found = [self.given[stage] if stage in self.given else self.build(stage).of(sources[0])]
        else:
            found = [self.context / source for source in sources]
        for source in found:
            into = target / source.name if place.endswith("/") else target
            into.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, into, symlinks=True, dirs_exist_ok=True, copy_function=_linked)
            else:
                shutil.copy(source, into)

    def _run(self, image: Image, command: str, values: Mapping[str, str]) -> None:
        workshop = self.folder / "workshop"
        workshop.mkdir(exist_ok=True)
        order = {
            "workshop": str(workshop),
            "base": str(image.base),
            "layers": [str(layer) for layer in image.layers],
            "volumes": {},
            "keeps_layer": True,
            "program": ["/bin/sh", "-c", command],
            "folder": image.folder,
            "environment": {**self.network, **values},
        }
        subprocess.run(  # noqa: S603 - the Dockerfile's own words
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", sys.executable, FIRST_PROCESS, json.dumps(order)],  # noqa: S607
            check=True,
            stdin=subprocess.DEVNULL,
        )
