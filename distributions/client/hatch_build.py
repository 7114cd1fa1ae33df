"""What two distributions take from the one tree of sources: `ledgerd-client` the rooms that pyproject.toml lists for
it, `ledgerd` all but these and those of `ledgerd-conformance`, and the commit that it was built from.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "ledgerd"
CLIENT = "ledgerd-client"
BUILD = "build.json"
"""Read by `ledgerd.node.build`."""


class Rooms(BuildHookInterface[Any]):
    """Puts into a distribution what of the package belongs to it."""

    made: tempfile.TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files. An editable install reads all of the sources where they are."""
        if version == "editable":
            return
        target = PACKAGE if self.target_name == "wheel" else f"src/{PACKAGE}"
        for entry in self.entries():
            build_data["force_include"][str(entry)] = f"{target}/{entry.name}"

    def entries(self) -> Iterator[Path]:
        """What of the package belongs to this distribution: its rooms, and files beside them.

        A source distribution has just that, unpacked.
        """
        root = Path(self.root)
        is_client = self.metadata.name == CLIENT
        is_unpacked = (root / "PKG-INFO").is_file()
        repository = root.parents[1] if is_client and not is_unpacked else root
        of_client = set() if is_unpacked else rooms_of(repository, "client")
        of_kit = set() if is_unpacked else rooms_of(repository, "conformance")
        for entry in (repository / "src" / PACKAGE).iterdir():
            if entry.name in {"__pycache__", *of_kit}:
                continue
            if is_unpacked or (entry.name in of_client) is is_client:
                yield entry
        if not is_client and not is_unpacked:
            yield self.commit(repository)

    def commit(self, repository: Path) -> Path:
        """A file that tells the commit; only the build of a program (`scripts/build_program.py`) says more."""
        self.made = tempfile.TemporaryDirectory()
        file = Path(self.made.name, BUILD)
        file.write_text(json.dumps({"revision": revision(repository)}), encoding="utf-8")
        return file

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what was made for the build."""
        if self.made is not None:
            self.made.cleanup()


def rooms_of(repository: Path, distribution: str) -> set[str]:
    """What of the package a distribution takes along."""
    settings = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    return {*settings["tool"]["ledgerd"][distribution]}


def revision(repository: Path) -> str:
    """The commit of the sources, where that can be known."""
    if given := os.environ.get("LEDGERD_REVISION"):
        return given
    git = shutil.which("git")
    if git is None or not (repository / ".git").exists():
        return "unknown"
    told = subprocess.run(  # noqa: S603 - our own words
        [git, "-C", str(repository), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    return told.stdout.strip() or "unknown"
