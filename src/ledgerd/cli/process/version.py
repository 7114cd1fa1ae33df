"""`ledgerd --version`: what scripts ask for, so it loads no option of the node and runs no other program."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from ledgerd.node.build import FILE, THIS_BUILD

BLOCKCHAIN_VERSION = "4.1.0"
"""The version of every known network (spec 06, sections 1 and 16.3); a test compares it with their parameters."""

PACKAGE = FILE.parent


def version_text() -> str:
    """The reference's lines, which scripts read, then our own."""
    return (
        f"blockchain_version: {BLOCKCHAIN_VERSION}\n"
        f"git_revision:       {revision_of(PACKAGE)}\n"
        f"ledgerd_version:    {version('ledgerd')} ({THIS_BUILD.words})"
    )


def revision_of(package: Path) -> str:
    """The commit of what was built, or the one that the checkout of the package is at; files may differ from it."""
    repository = package.parents[1] / ".git"
    if FILE.exists() or package.parent.name != "src" or not repository.exists():
        return THIS_BUILD.revision
    try:
        return _commit_of(repository)
    except (OSError, ValueError):
        return THIS_BUILD.revision


def _commit_of(repository: Path) -> str:
    """The commit of HEAD, from git's own files. `ValueError`: they say none."""
    own = shared = repository
    if repository.is_file():  # a worktree, whose branches are in the repository that it belongs to
        own = repository.parent / repository.read_text().removeprefix("gitdir:").strip()
        shared = own / (own / "commondir").read_text().strip()
    head = (own / "HEAD").read_text().strip()
    if not head.startswith("ref: "):
        return head
    branch = head.removeprefix("ref: ")
    if (shared / branch).is_file():
        return (shared / branch).read_text().strip()
    packed = (line.split() for line in (shared / "packed-refs").read_text().splitlines())
    commits = {line[1]: line[0] for line in packed if len(line) == len(("commit", "name"))}
    if branch not in commits:
        raise ValueError(f"{shared} has no commit of {branch}")
    return commits[branch]


def run() -> int:
    print(version_text())
    return 0
