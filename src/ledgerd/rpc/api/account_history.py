"""`account_history`: the operations that touched an account (spec 05, section 13)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.chain.log.histories import History, HistoryEntry
from ledgerd.codec.numbers import UInt32
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.names import cut_name
from ledgerd.rpc.api.kinds import Printed
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.view import ApiView

ACCOUNT_HISTORY = Api("account_history", "What happened to accounts: every operation that touched them.")

EntriesText = Annotated[str, Printed(tuple[HistoryEntry, ...])]

NEWEST = 0xFFFFFFFF
"""The number that means the newest entry; most clients write -1."""

MOST_ENTRIES = 1000


@ACCOUNT_HISTORY.method(args=exactly(3), examples=[["viz", -1, 100]])
def get_account_history(view: ApiView, account: str, from_: UInt32, limit: UInt32) -> EntriesText:
    """The entries of an account up to a number (-1 for the newest), the oldest first.

    The answer has one entry more than the limit, if there are so many: with a limit of 0, the entry `from` alone. Newer
    releases of the reference refuse that; clients still use it.
    """
    name, service = cut_name(account), view.service(History)
    with service.reading() as history:
        page = history.page_of(name, None if from_ == NEWEST else from_, min(limit, MOST_ENTRIES))
        if page is None:
            raise RuleViolation(
                "itr_range != idx_range.end(): "
                "Account not found in history index, it may have been purged since the last  ${b} blocks are stored "
                "in the history",
                b=service.count_blocks,
            )
        entries = page.known
        if from_ != NEWEST and from_ < entries.first:
            raise RuleViolation(
                "from >= itr_range->start_sequence: From is less than account history start sequence ${s}",
                s=entries.first,
            )
        if from_ != NEWEST and from_ > entries.last:
            raise RuleViolation(
                "from <= itr_range->end_sequence: From is greater than account history end sequence ${s}",
                s=entries.last,
            )
        if limit > MOST_ENTRIES:
            raise RuleViolation("limit <= 1000: Limit of ${l} is greater than maxmimum allowed (1000)", l=limit)
        return f"[{','.join([f'[{number},{text}]' for number, text in enumerate(page.entries, page.first)])}]"
