"""Options of histories and custom protocols (spec 06, section 5.8), and of market records (spec 11, section 2)."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from ledgerd.history.settings import ALL_BLOCKS, HistorySettings
from ledgerd.node.config.options.declaration import Option, OptionSection, SectionContext, WrongTogether, our_option
from ledgerd.node.config.values.json_values import ACCOUNT_RANGE
from ledgerd.node.config.values.values import BOOL, TEXT, UINT32, choice_of, uint32

BLACKLIST = "history-blacklist-ops"
WHITELIST = "history-whitelist-ops"
STORE = "history-store"
BALANCES = "history-balances"
JOURNAL = "state-journal"
COUNT_BLOCKS = "history-count-blocks"
POSTGRES = ("postgresql://", "postgres://")
UNLIMITED = "4294967295"


class CustomProtocolOptions(msgspec.Struct, frozen=True):
    """The custom operations that are stored for each account."""

    store_size: int


def _complete(record: HistorySettings, context: SectionContext) -> HistorySettings:
    if record.whitelist and record.blacklist:
        raise WrongTogether(BLACKLIST, f"cannot stand beside {WHITELIST}: keep one of the two")
    if record.store and not record.store.startswith(POSTGRES):
        raise WrongTogether(STORE, f"begins with {POSTGRES[0]}, as in {POSTGRES[0]}/ledger")
    if (record.store or record.balances) and record.count_blocks != ALL_BLOCKS:
        context.remark(f"{COUNT_BLOCKS} has no effect beside {STORE} or {BALANCES}: nothing may go before it was fed")
        record = replace(record, count_blocks=ALL_BLOCKS)
    return replace(record, balances=record.balances or bool(record.store))


HISTORY = OptionSection(
    "history",
    "What the plugins operation_history and account_history record.",
    HistorySettings,
    (
        Option(
            WHITELIST,
            TEXT,
            "The only operations to record, by their full names.",
            repeatable=True,
            words=True,
            example="transfer_operation",
            field="whitelist",
        ),
        Option(
            BLACKLIST,
            TEXT,
            "Operations not to record, by their full names.",
            repeatable=True,
            words=True,
            example="custom_operation vote_operation",
            field="blacklist",
        ),
        Option("history-start-block", UINT32, "Record the history from this block on.", default="0"),
        Option(
            COUNT_BLOCKS,
            UINT32,
            f"The number of latest blocks whose history is kept; {UNLIMITED} for all.",
            default=UNLIMITED,
        ),
        Option(
            "history-purge-interval",
            uint32(raised_to=1),
            "Blocks between two deletions of older history.",
            default="4800",
        ),
        Option(
            "track-account-range",
            ACCOUNT_RANGE,
            "Record the histories of the accounts between two names, both included, and of no others.",
            repeatable=True,
            field="account_ranges",
        ),
        our_option(
            BALANCES,
            BOOL,
            f"Record what accounts have after each change, for `ledgerd history feed`; {STORE} includes it.",
            default="false",
        ),
        our_option(
            JOURNAL,
            choice_of("none", "accounts"),
            "Record how accounts are after each change, for `state_api`: from now on, or from the first block on after "
            "`ledgerd history rebuild`.",
            default="none",
            field="journal",
        ),
        our_option(
            STORE,
            TEXT,
            "The PostgreSQL database that the history is fed to as well, and that the APIs answer from.",
            example="postgresql:///ledger",
        ),
    ),
    complete=_complete,
    prefixes=("history-",),
)

CUSTOM_PROTOCOL = OptionSection(
    "custom_protocol_api",
    "What the plugin custom_protocol_api stores.",
    CustomProtocolOptions,
    (
        Option(
            "custom-protocol-store-size",
            uint32(most=255),
            "The number of latest protocols that are stored for each account.",
            default="10",
        ),
    ),
    prefixes=("custom-protocol-",),
)


class MarketRecordOptions(msgspec.Struct, frozen=True):
    """The records of markets that are kept beside the ledger."""

    ttl_days: int


PREDICTION_MARKET = OptionSection(
    "prediction_market_api",
    "What the plugin prediction_market_api keeps.",
    MarketRecordOptions,
    (
        Option(
            "pmm-ttl-days",
            UINT32,
            "Days for which metadata and price points of a market are kept after the time for disputes; 0 for ever.",
            default="5",
        ),
    ),
    prefixes=("pmm-",),
)
