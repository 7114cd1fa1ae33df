"""The options of the history: which operations are recorded, and for how long (spec 06, section 5.8)."""

from __future__ import annotations

from typing import Literal

import msgspec

HISTORY_FOLDER = "history"
"""The history, in a data directory."""

ALL_BLOCKS = 0xFFFFFFFF


class HistorySettings(msgspec.Struct, frozen=True):
    """The options, with the defaults of the reference; no account range stands for all accounts."""

    whitelist: tuple[str, ...] = ()
    """Full names of the operations to keep, such as `transfer_operation`, and no others."""
    blacklist: tuple[str, ...] = ()
    """Full names of the operations not to keep."""
    start_block: int = 0
    count_blocks: int = ALL_BLOCKS
    purge_interval: int = 4800
    account_ranges: tuple[tuple[str, str], ...] = ()
    """First and last name of each range of accounts to track."""
    skip_virtual: bool = False
    keep_accounts: bool = True
    """Whether there are histories of accounts (plugin account_history) besides that of the blocks."""
    keep_blocks: bool = False
    """Keep the bytes of blocks after they are in the log, for a log that drops its oldest blocks."""
    balances: bool = False
    journal: Literal["accounts", "none"] = "none"
    store: str | None = None

    def of_log(self, *, is_rolling: bool) -> HistorySettings:
        return msgspec.structs.replace(self, keep_blocks=True) if is_rolling else self
