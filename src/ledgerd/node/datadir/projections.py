"""What the plugins keep beside the state while a chain is applied, by the node and by `ledgerd replay` alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.options.application import PREDICTION_MARKET_API
from ledgerd.projections.custom_protocols import CustomProtocols
from ledgerd.projections.following import follow, leave
from ledgerd.projections.key_references import KeyReferences
from ledgerd.projections.markets.records import MarketRecords
from ledgerd.projections.projection import Projection
from ledgerd.rpc.blocks.records import BlockRecorder

PROJECTIONS: Mapping[str, Callable[[Configuration], Projection]] = {
    "account_by_key": lambda _: KeyReferences(),
    "custom_protocol_api": lambda configuration: CustomProtocols(configuration.custom_protocol.store_size),
    PREDICTION_MARKET_API: lambda configuration: MarketRecords(
        configuration.prediction_market.ttl_days, skips_virtual=configuration.chain.skip_virtual_ops
    ),
}
"""For each plugin, the projections that it answers from."""


def project_for_plugins(chain: Chain, configuration: Configuration) -> None:
    """Keep the projections that the configured plugins answer from; the others cost nothing."""
    plugins = configuration.application.plugins
    wanted = [make(configuration) for plugin, make in PROJECTIONS.items() if plugin in plugins]
    if wanted:
        follow(chain, wanted)
    else:
        leave(chain)


def record_blocks(chain: Chain, configuration: Configuration) -> None:
    """Write the file of `block_info` from now on, where that plugin is configured."""
    if "block_info" in configuration.application.plugins:
        chain.observe(BlockRecorder(configuration.invocation.data_dir / STATE_FOLDER))
