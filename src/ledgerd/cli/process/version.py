"""`ledgerd --version`: what scripts ask for, so it loads no option of the node."""

from __future__ import annotations

from importlib.metadata import version

from ledgerd.node.build import THIS_BUILD

BLOCKCHAIN_VERSION = "4.1.0"
"""The version of every known network (spec 06, sections 1 and 16.3); a test compares it with their parameters."""


def version_text() -> str:
    """The reference's lines, which scripts read, then our own."""
    return (
        f"blockchain_version: {BLOCKCHAIN_VERSION}\n"
        f"git_revision:       {THIS_BUILD.revision}\n"
        f"ledgerd_version:    {version('ledgerd')} ({THIS_BUILD.words})"
    )


def run() -> int:
    print(version_text())
    return 0
