"""What this program was built as: for little memory or not, for which network, out of which sources.

The build scripts write it into `build.json` beside the package. Sources that nobody built have no such file, and are
a full program for the main network.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

FILE = Path(__file__).parents[1] / "build.json"

INDEXING_PLUGINS = frozenset(
    {"account_by_key", "account_history", "block_info", "custom_protocol_api", "operation_history"}
)
"""What keeps records of the chain for those who ask: no block depends on it (spec 06, section 19, R1.6b)."""


class Build(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The flavour of a program."""

    low_memory: bool = False
    network: str = "mainnet"
    """Where the configuration names none."""
    revision: str = "unknown"
    """Of the sources."""

    @property
    def excluded_plugins(self) -> frozenset[str]:
        """Plugins that are not part of it."""
        return INDEXING_PLUGINS if self.low_memory else frozenset()

    @property
    def words(self) -> str:
        """For people."""
        return f"{'low memory' if self.low_memory else 'full'}, {self.network}"


def read_build(file: Path) -> Build:
    """The flavour that a file tells of; a full program for the main network where there is none."""
    if not file.exists():
        return Build()
    return msgspec.json.decode(file.read_bytes(), type=Build)


THIS_BUILD = read_build(FILE)
