"""The options of the plugins that keep histories: operation_history, account_history, custom_protocol_api.

Spec 06, section 5.8.
"""

from __future__ import annotations

import msgspec

from ledgerd.node.config.options.declaration import Option, Section, Surroundings, WrongTogether
from ledgerd.node.config.values.json_values import ACCOUNT_RANGE, AccountRange
from ledgerd.node.config.values.values import TEXT, UINT32, uint32

BLACKLIST = "history-blacklist-ops"
WHITELIST = "history-whitelist-ops"
UNLIMITED = "4294967295"


class HistoryOptions(msgspec.Struct, frozen=True):
    """What the histories of operations and accounts hold; no account range stands for all accounts."""

    whitelist: tuple[str, ...]
    blacklist: tuple[str, ...]
    start_block: int
    count_blocks: int
    purge_interval: int
    account_ranges: tuple[AccountRange, ...]


class CustomProtocolOptions(msgspec.Struct, frozen=True):
    """What is kept of the custom operations of each account."""

    store_size: int


def _settle(record: HistoryOptions, _surroundings: Surroundings) -> HistoryOptions:
    if record.whitelist and record.blacklist:
        raise WrongTogether(BLACKLIST, f"cannot stand beside {WHITELIST}: keep one of the two")
    return record


HISTORY = Section(
    "history",
    "What the plugins operation_history and account_history keep.",
    HistoryOptions,
    {
        "whitelist": Option(
            WHITELIST,
            TEXT,
            "Operations to keep, by their full names, and no others.",
            repeatable=True,
            words=True,
            example="transfer_operation",
        ),
        "blacklist": Option(
            BLACKLIST,
            TEXT,
            "Operations not to keep, by their full names.",
            repeatable=True,
            words=True,
            example="custom_operation vote_operation",
        ),
        "start_block": Option("history-start-block", UINT32, "Keep the history from this block on.", default="0"),
        "count_blocks": Option(
            "history-count-blocks",
            UINT32,
            f"Keep the history of so many of the newest blocks; {UNLIMITED} for all.",
            default=UNLIMITED,
        ),
        "purge_interval": Option(
            "history-purge-interval",
            uint32(raised_to=1),
            "Blocks between two times that older history is thrown away.",
            default="4800",
        ),
        "account_ranges": Option(
            "track-account-range",
            ACCOUNT_RANGE,
            "Keep the history of the accounts between two names, both included, and of no others.",
            repeatable=True,
        ),
    },
    settle=_settle,
)

CUSTOM_PROTOCOL = Section(
    "custom_protocol_api",
    "What the plugin custom_protocol_api keeps.",
    CustomProtocolOptions,
    {
        "store_size": Option(
            "custom-protocol-store-size",
            uint32(most=255),
            "How many protocols are kept of each account, the newest ones.",
            default="10",
        ),
    },
)
