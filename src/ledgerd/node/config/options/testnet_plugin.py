"""The option of the plugin testnet_plugin: hardforks without votes on a network for tests (spec 11, section 9.6)."""

from __future__ import annotations

import msgspec

from ledgerd.node.config.options.declaration import Option, OptionSection
from ledgerd.node.config.values.hardfork_value import HARDFORK


class TestnetOptions(msgspec.Struct, frozen=True):
    """What a network for tests does without votes."""

    __test__ = False

    hardfork: int
    """The number of the last hardfork that is applied at the start; 0 for none."""
    is_on: bool = False

    @property
    def forced_hardfork(self) -> int:
        """The hardfork to apply; 0 without the plugin."""
        return self.hardfork if self.is_on else 0


TESTNET_PLUGIN = OptionSection(
    "testnet_plugin",
    "For networks of tests: what happens there without votes.",
    TestnetOptions,
    (
        Option(
            "testnet-hardfork",
            HARDFORK,
            "Apply every hardfork up to this one at the start, without votes, where the plugin testnet_plugin runs. "
            "All nodes of the network must do so at the same head block. Refused on the main network.",
            default="",
        ),
    ),
    prefixes=("testnet-",),
)
