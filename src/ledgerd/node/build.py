"""The flavour of this build, which the build scripts write into `build.json` beside the package."""

from __future__ import annotations

from pathlib import Path

import msgspec

FILE = Path(__file__).parents[1] / "build.json"

INDEXING_PLUGINS = frozenset(
    {"account_by_key", "account_history", "block_info", "custom_protocol_api", "operation_history", "state_api"}
)
"""Plugins that only index the chain for clients, or answer from such an index.

Low-memory builds leave them out (spec 06, section 19, R1.6b).
"""


class Build(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The flavour of a build."""

    low_memory: bool = False
    network: str = "mainnet"
    """The network of a node whose configuration names none."""
    revision: str = "unknown"

    @property
    def excluded_plugins(self) -> frozenset[str]:
        return INDEXING_PLUGINS if self.low_memory else frozenset()

    @property
    def words(self) -> str:
        return f"{'low memory' if self.low_memory else 'full'}, {self.network}"


def read_build(file: Path) -> Build:
    if not file.exists():
        return Build()
    return msgspec.json.decode(file.read_bytes(), type=Build)


THIS_BUILD = read_build(FILE)
