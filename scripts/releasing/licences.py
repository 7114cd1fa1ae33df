"""Whether what is released may be released: each package of others has a licence that fits a program under MIT.

A package tells its licence as an SPDX expression. For those that tell it in other words, it was read in their texts and
stands here; one that does neither is refused.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.build_program import LOCK, ROOT, BuildError

_FREE = "asks for its notice to be kept, and the packages bring it along"
_IN_FILES_OF_ITS_OWN = "asks for the source of its own files, which are taken along unchanged and can be replaced"
ALLOWED = {
    "Apache-2.0": _FREE,
    "BSD-2-Clause": _FREE,
    "BSD-3-Clause": _FREE,
    "LGPL-3.0-only": _IN_FILES_OF_ITS_OWN,
    "MIT": _FREE,
    "MIT-0": "asks for nothing",
    "MPL-2.0": _IN_FILES_OF_ITS_OWN,
    "OLDAP-2.8": _FREE,
    "PSF-2.0": _FREE,
}
"""Licences that fit, by their SPDX identifiers, and why."""

READ = {
    "jinja2": "BSD-3-Clause",
    "lmdb": "OLDAP-2.8",
    "markdown-it-py": "MIT",
    "mdurl": "MIT",
    "prompt-toolkit": "BSD-3-Clause",
    "rich": "MIT",
    "sqlparse": "BSD-3-Clause",
    "tzdata": "Apache-2.0",
    "uvloop": "MIT OR Apache-2.0",
    "wcwidth": "MIT",
    "yoyo-migrations": "Apache-2.0",
}
"""What the texts of packages say that have no expression in their metadata."""

DEVELOPMENT = "dev"
_TOKEN = re.compile(r"\(|\)|[\w.+-]+")


def licence_of(name: str, package: Distribution | None) -> str:
    """The expression of a package, from what it says itself before what was read."""
    told = None if package is None else package.metadata.json.get("license_expression")
    if not isinstance(told, str) and name not in READ:
        raise BuildError(
            f"{name}: its licence is unknown; read it, and add it to READ in scripts/releasing/licences.py"
        )
    return told if isinstance(told, str) else READ[name]


def fits(expression: str) -> bool:
    """Whether one of the choices that a licence gives is allowed in all its parts."""
    tokens = _TOKEN.findall(expression)
    result = _any(tokens)
    if tokens:
        raise BuildError(f"not the expression of a licence: {expression}")
    return result


def _any(tokens: list[str]) -> bool:
    choices = [_all(tokens)]
    while tokens and tokens[0].upper() == "OR":
        tokens.pop(0)
        choices.append(_all(tokens))
    return any(choices)


def _all(tokens: list[str]) -> bool:
    parts = [_one(tokens)]
    while tokens and tokens[0].upper() == "AND":
        tokens.pop(0)
        parts.append(_one(tokens))
    return all(parts)


def _one(tokens: list[str]) -> bool:
    first = tokens.pop(0) if tokens else ""
    if first != "(":
        return first in ALLOWED
    result = _any(tokens)
    return tokens[:1] == [")"] and tokens.pop(0) == ")" and result


def require_licences(names: Iterable[str], packages: Mapping[str, Distribution]) -> dict[str, str]:
    """The licence of each package; refuses all together that have none, or one that does not fit."""
    found, faults = {}, []
    for name in sorted(names):
        try:
            found[name] = licence_of(name, packages.get(name) or _at_hand(name))
            if not fits(found[name]):
                faults.append(f"{name}: the licence {found[name]} is not in ALLOWED of scripts/releasing/licences.py")
        except BuildError as fault:
            faults.append(str(fault))
    if faults:
        raise BuildError("licences: " + "; ".join(faults))
    return found


def _at_hand(name: str) -> Distribution | None:
    """A package of the environment that releases, which has those of every extra."""
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def needed() -> set[str]:
    """All that programs and wheels can need on any system: what the lock of programs pins, and the extras."""
    pinned = re.findall(r"^([\w.-]+)==", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    return {canonicalize_name(name) for name in (*pinned, *_of_extras())}


def _of_extras() -> Iterator[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra, lines in project["optional-dependencies"].items():
        if extra != DEVELOPMENT:
            yield from (Requirement(line).name for line in lines)
