"""What the plugins keep beside the state while a chain is applied, by the node and by `ledgerd replay` alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ledgerd.chain.chain import STATE_FOLDER
from ledgerd.node.config.options.application import PREDICTION_MARKET_API
from ledgerd.projections.custom_protocols import CustomProtocols
from ledgerd.projections.key_references import KeyReferences
from ledgerd.projections.markets.open_books import LAPSED
from ledgerd.projections.markets.records import MarketRecords
from ledgerd.rpc.blocks.records import BlockRecorder

if TYPE_CHECKING:
    from ledgerd.chain.chain import Chain
    from ledgerd.node.config.configuration import Configuration


def project_for_plugins(chain: Chain, configuration: Configuration) -> None:
    """Keep the projections that the configured plugins answer from."""
    plugins = configuration.application.plugins
    if "account_by_key" in plugins:
        chain.project(KeyReferences())
    if "custom_protocol_api" in plugins:
        chain.project(CustomProtocols(configuration.custom_protocol.store_size))
    if PREDICTION_MARKET_API in plugins:
        kept_days, skips_virtual = configuration.prediction_market.ttl_days, configuration.chain.skip_virtual_ops
        chain.project(MarketRecords(kept_days, skips_virtual=skips_virtual))
    else:
        chain.lapse(LAPSED)


@contextmanager
def recording_blocks(chain: Chain, configuration: Configuration) -> Iterator[None]:
    """Write the file of `block_info` as long as the block lasts, where that plugin is configured."""
    if "block_info" not in configuration.application.plugins:
        yield
        return
    recorder = BlockRecorder(configuration.invocation.data_dir / STATE_FOLDER)
    chain.observe(recorder)
    try:
        yield
    finally:
        recorder.close()
