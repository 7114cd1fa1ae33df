"""What `ledgerd-conformance` takes from the repository: its rooms, and the recorded facts that pyproject.toml lists."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "ledgerd"
KINDS = ("account-histories-", "answers-", "api-", "block_log", "state-")
"""Files of a recorded chain that the kit asks about; the others help to read it, or are of single tests."""


class Kit(BuildHookInterface[Any]):
    """Puts into the distribution what belongs to it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files. An editable install reads all of the sources where they are."""
        if version == "editable":
            return
        target = PACKAGE if self.target_name == "wheel" else f"src/{PACKAGE}"
        for name, source in sorted(self.files()):
            build_data["force_include"][str(source)] = f"{target}/{name}"

    def files(self) -> Iterator[tuple[str, Path]]:
        """Places in the package, and the files for them. A source distribution has just these, unpacked."""
        root = Path(self.root)
        if (root / "PKG-INFO").is_file():
            yield from below(root / "src" / PACKAGE, "")
            return
        repository = root.parents[1]
        settings = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ledgerd"]
        for room in settings["conformance"]:
            yield from below(repository / "src" / PACKAGE / room, f"{room}/")
        vectors = repository / "tests" / "vectors"
        for name in settings["vectors"]:
            for file in facts(vectors / name):
                yield f"conformance/vectors/{file.relative_to(vectors).as_posix()}", file


def below(folder: Path, prefix: str) -> Iterator[tuple[str, Path]]:
    """Every file of a folder but compiled modules."""
    for path in folder.rglob("*"):
        if path.is_file() and path.parent.name != "__pycache__":
            yield f"{prefix}{path.relative_to(folder).as_posix()}", path


def facts(place: Path) -> Iterator[Path]:
    """A file, or those of a recorded chain that belong to the kit."""
    if place.is_file():
        yield place
    else:
        yield from sorted(each for each in place.iterdir() if each.name.startswith(KINDS))
