"""What the configuration says of the history, as the history takes it."""

from __future__ import annotations

from ledgerd.history.settings import HistorySettings
from ledgerd.node.config.configuration import Configuration


def history_settings(configuration: Configuration) -> HistorySettings:
    """The settings of the history; accounts have one where their plugin runs."""
    options = configuration.history
    return HistorySettings(
        whitelist=options.whitelist,
        blacklist=options.blacklist,
        start_block=options.start_block,
        count_blocks=options.count_blocks,
        purge_interval=options.purge_interval,
        account_ranges=tuple((each.first, each.last) for each in options.account_ranges),
        skip_virtual=configuration.chain.skip_virtual_ops,
        keep_accounts="account_history" in configuration.application.plugins,
    )
