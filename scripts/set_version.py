"""`python -m scripts.set_version 1.0.0`: the step of a release that changes the version, wherever a file has to say it.

`pyproject.toml` is the one source: the others take their version from there, and programs ask the installed package.
What a file cannot take from there follows here: the version of the client that the others ask for.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
PROJECTS = ("pyproject.toml", "distributions/client/pyproject.toml", "distributions/conformance/pyproject.toml")

WORDS = (
    (re.compile(r'^version = "[^"]+"', re.MULTILINE), 'version = "{version}"'),
    (re.compile(r'"ledgerd-client==[^"]+"'), '"ledgerd-client=={version}"'),
)


def with_version(text: str, version: str) -> str:
    """The text of a project's file, as it is for a version."""
    for pattern, written in WORDS:
        text = pattern.sub(written.format(version=version), text)
    return text


def main(words: list[str]) -> int:
    """Change all files."""
    version = str(Version(words[0]))
    for name in PROJECTS:
        path = ROOT / name
        path.write_text(with_version(path.read_text(encoding="utf-8"), version), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
