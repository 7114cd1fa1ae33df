"""What the plugins keep beside the state while a chain is applied, by the node and by `ledgerd replay` alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ledgerd.chain.chain import STATE_FOLDER
from ledgerd.chain.rules.accounts.custom_protocols import custom_followers
from ledgerd.chain.rules.accounts.key_references import KEY_FOLLOWERS
from ledgerd.chain.rules.market_records.following import market_records
from ledgerd.chain.rules.market_records.open_books import LAPSED
from ledgerd.node.config.options.application import PREDICTION_MARKET_API
from ledgerd.rpc.blocks.records import BlockRecorder

if TYPE_CHECKING:
    from ledgerd.chain.chain import Chain
    from ledgerd.node.config.configuration import Configuration


def follow_for_plugins(chain: Chain, configuration: Configuration) -> None:
    """Keep in the state what the configured plugins answer from."""
    plugins = configuration.application.plugins
    if "account_by_key" in plugins:
        chain.follow(KEY_FOLLOWERS)
    if "custom_protocol_api" in plugins:
        chain.follow(custom_followers(configuration.custom_protocol.store_size))
    if PREDICTION_MARKET_API in plugins:
        kept_days, skips_virtual = configuration.prediction_market.ttl_days, configuration.chain.skip_virtual_ops
        chain.follow(*market_records(kept_days, skips_virtual=skips_virtual))
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
