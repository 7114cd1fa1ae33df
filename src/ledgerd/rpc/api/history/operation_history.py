"""`operation_history` and `account_history`: what happened in blocks and to accounts (spec 05, sections 12 and 13)."""

from __future__ import annotations

from typing import Annotated

import msgspec

from ledgerd.chain.log.histories import History, HistoryEntry, RecordedOperation
from ledgerd.codec.types.numbers import UInt16, UInt32
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import Extensions
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.protocol.types.names import cut_name
from ledgerd.protocol.types.times import Time
from ledgerd.rpc.api.shared.kinds import Printed, existing, record_of
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.view import ApiView

OPERATION_HISTORY = Api("operation_history", "What happened: every operation by block, virtual ones included.")

OperationsText = Annotated[str, Printed(tuple[RecordedOperation, ...])]


class AnnotatedTransaction(msgspec.Struct, frozen=True):
    """A transaction, and its place in the chain."""

    ref_block_num: UInt16
    ref_block_prefix: UInt32
    expiration: Time
    operations: tuple[Operation, ...]
    extensions: Extensions
    signatures: tuple[Signature, ...]
    transaction_id: TransactionId
    block_num: UInt32
    transaction_num: UInt32


@OPERATION_HISTORY.method(args=exactly(2), examples=[[1, False]])
def get_ops_in_block(view: ApiView, block_num: UInt32, only_virtual: bool) -> OperationsText:
    """All operations of a block, or only the virtual ones; none for an unknown block."""
    with view.service(History).reading() as history:
        return f"[{','.join(history.operations_of(block_num, only_virtual=only_virtual))}]"


@OPERATION_HISTORY.method(args=exactly(1), examples=[["0000000000000000000000000000000000000000"]])
def get_transaction(view: ApiView, transaction_id: TransactionId) -> AnnotatedTransaction:
    """A transaction in the chain."""
    with view.service(History).reading() as history:
        place = history.place_of(transaction_id)
    if place is None:
        raise RuleViolation("false: Unknown Transaction ${t}", t=transaction_id.hex())
    block = existing(view.service(KeptBlocks).block(view.state, place.block), "blk.valid(): ")
    number = place.transaction_in_block
    require(len(block.transactions) > number, "blk->transactions.size() > itr->trx_in_block: ")
    where = {"transaction_id": transaction_id, "block_num": place.block, "transaction_num": number}
    return record_of(AnnotatedTransaction, block.transactions[number], **where)


ACCOUNT_HISTORY = Api("account_history", "What happened to accounts: every operation that touched them.")

EntriesText = Annotated[str, Printed(tuple[HistoryEntry, ...])]

NEWEST = 0xFFFFFFFF
"""The number that means the newest entry; most clients write -1."""

MOST_ENTRIES = 1000
"""Entries of an account in one answer."""


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
