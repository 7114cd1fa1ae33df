"""What is released: the sources of one commit, with nothing changed beside it."""

from __future__ import annotations

import subprocess

from scripts.build_program import ROOT, BuildError, version_of_sources

MANY = 5
"""Files that are named where the sources are not those of a commit."""


def require_release_of(version: str) -> None:
    """Refuse sources of another version, and those that are not what their commit says."""
    if version != version_of_sources():
        raise BuildError(f"pyproject.toml says version {version_of_sources()}, not {version}: change it there first")
    changed = told_by_git("status", "--porcelain").splitlines()
    if changed:
        names = ", ".join(line[3:] for line in changed[:MANY]) + (", ..." if len(changed) > MANY else "")
        raise BuildError(f"the sources differ from their commit ({names}): commit that first, or take it away")


def told_by_git(*words: str) -> str:
    """What git says of the sources."""
    told = subprocess.run(  # noqa: S603 - our own words
        ["git", "-C", str(ROOT), *words],  # noqa: S607 - the git of whoever releases
        capture_output=True,
        text=True,
        check=False,
    )
    if told.returncode:
        raise BuildError(f"git {words[0]}: {told.stderr.strip()}")
    return told.stdout.rstrip("\n")
