"""The distributions that are made from the one tree, as their pyproject.toml describe them."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import requires
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house.source_tree import PACKAGE, ROOT, imports, python_files

NODE, CLIENT, KIT = "ledgerd", "ledgerd-client", "ledgerd-conformance"
OURS = {NODE, CLIENT, KIT}
PROJECTS = {
    NODE: Path("pyproject.toml"),
    CLIENT: Path("distributions/client/pyproject.toml"),
    KIT: Path("distributions/conformance/pyproject.toml"),
}

# Where the name that is imported is not the name that is installed.
IMPORTED_AS = {"yoyo-migrations": "yoyo"}


class Distribution(NamedTuple):
    """What is published under one name."""

    name: str
    project: dict[str, Any]
    """Its table `project`."""
    entries: frozenset[str]
    """What of the package is in it: names of rooms, and of files beside them."""

    @property
    def requirements(self) -> list[Requirement]:
        return [Requirement(line) for line in self.project["dependencies"]]

    @property
    def brings(self) -> set[str]:
        """The names under which what it needs is imported."""
        return {_imported(each) for each in self.requirements}

    @property
    def may_bring(self) -> set[str]:
        """The same of its extras."""
        extras = self.project.get("optional-dependencies", {}).values()
        return {_imported(Requirement(line)) for lines in extras for line in lines}

    def files(self, src: Path) -> Iterator[Path]:
        """Its Python files."""
        package = src / PACKAGE
        return (path for path in python_files(package) if path.relative_to(package).parts[0] in self.entries)

    def foreign_imports(self, src: Path) -> set[str]:
        """Packages that are neither ours nor Python's and that its files import, anywhere in them."""
        found = {each.target.partition(".")[0] for path in self.files(src) for each in imports(path, src)}
        return found - {PACKAGE} - sys.stdlib_module_names


def read_distributions(root: Path = ROOT) -> dict[str, Distribution]:
    """All, by name. What no list of another names is in `ledgerd`."""
    settings = {name: tomllib.loads((root / file).read_text(encoding="utf-8")) for name, file in PROJECTS.items()}
    rooms = settings[NODE]["tool"]["ledgerd"]
    of_client, of_kit = frozenset(rooms["client"]), frozenset(rooms["conformance"])
    package = root / "src" / PACKAGE
    others = frozenset(entry.name for entry in package.iterdir() if entry.name != "__pycache__")
    return {
        NODE: Distribution(NODE, settings[NODE]["project"], others - of_client - of_kit),
        CLIENT: Distribution(CLIENT, settings[CLIENT]["project"], of_client),
        KIT: Distribution(KIT, settings[KIT]["project"], of_kit),
    }


def needed_by(requirements: Iterable[Requirement]) -> set[str]:
    """The packages that are asked for, and what those ask for, as the installed ones say."""
    wanted = [(each, frozenset({""})) for each in requirements]
    found: set[tuple[str, frozenset[str]]] = set()
    while wanted:
        requirement, extras = wanted.pop()
        name, own = canonicalize_name(requirement.name), frozenset({"", *requirement.extras})
        marker = requirement.marker
        if (name, own) in found or (marker is not None and not any(marker.evaluate({"extra": e}) for e in extras)):
            continue
        found.add((name, own))
        wanted += [(Requirement(line), own) for line in requires(name) or ()]
    return {name for name, _ in found}


def _imported(requirement: Requirement) -> str:
    name = canonicalize_name(requirement.name)
    return IMPORTED_AS.get(name, name.replace("-", "_"))
