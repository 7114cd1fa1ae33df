"""`operation_history`: the operations of blocks, and transactions by their ids (spec 05, section 12)."""

from __future__ import annotations

from typing import Annotated

import msgspec

from ledgerd.chain.log.histories import History, RecordedOperation
from ledgerd.codec.numbers import UInt16, UInt32
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.identifiers import TransactionId
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import Extensions
from ledgerd.protocol.signatures import Signature
from ledgerd.protocol.times import Time
from ledgerd.rpc.api.kinds import Printed, existing, record_of
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
