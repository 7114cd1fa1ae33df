"""What nodes answer about their chain, read and checked: where it stands, its blocks, and their operations."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ledgerd.basics.printable import printable
from ledgerd.client.envelope import NodeCall
from ledgerd.codec import codec_of
from ledgerd.codec.errors import CodecError
from ledgerd.protocol.blocks.block import EXCEPTED_BLOCKS, Block
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.types.identifiers import BlockId, TransactionId, block_number_of
from ledgerd.sdk.connection.nodes import Unsuited
from ledgerd.sdk.errors import NodeError, UnknownMethod, WrongAnswer
from ledgerd.sdk.streams.cursor import PlaceInBlock
from ledgerd.sdk.streams.errors import PastNotKept, UnknownOperation
from ledgerd.sdk.streams.events import HistoryRow, ReadBlock
from ledgerd.sdk.streams.reading.negative_amounts import with_whole_amounts

ID_SIZE = 20
UNKNOWN_NAME = "Invalid operation name: "
"""The beginning of the codec's error for an operation that it does not have, as in the reference (spec 01, section
3.5).
"""
MOST_NAME = 64
"""Characters of such a name that are shown."""
OUTSIDE = 65_535
"""The place of what is in no transaction (spec 05, section 12.2)."""
NO_TRANSACTION = TransactionId(bytes(20))
UNREADABLE = (CodecError, RuleViolation, LookupError, TypeError, ValueError, ArithmeticError, AttributeError)


def block_call(number: int) -> NodeCall:
    return NodeCall("database_api", "get_block", (number,))


def raw_block_call(number: int) -> NodeCall:
    return NodeCall("raw_block", "get_raw_block", (number,))


def header_call(number: int) -> NodeCall:
    return NodeCall("database_api", "get_block_header", (number,))


def operations_call(number: int) -> NodeCall:
    return NodeCall("operation_history", "get_ops_in_block", (number, False))


def ids_in(properties: object) -> tuple[BlockId, BlockId]:
    if isinstance(properties, NodeError):
        raise WrongAnswer(str(properties))
    try:
        return id_in(properties, "head_block_id"), id_in(properties, "last_irreversible_block_id")
    except UNREADABLE as problem:
        raise WrongAnswer(f"a node does not say where its chain stands: {problem}") from None


def id_in(fields: object, name: str) -> BlockId:
    if not isinstance(fields, dict):
        raise TypeError("no object")
    raw = bytes.fromhex(fields[name])
    if len(raw) != ID_SIZE:
        raise ValueError(f"{name} has {len(raw)} bytes")
    return BlockId(raw)


def blocks_in(numbers: range, answers: Sequence[Any], *, with_history: bool) -> Sequence[ReadBlock]:
    """The blocks in a node's answers: its blocks, their operations, its head, and the header of the block after them.

    Each must be the one that the next names as its previous, the last of them as well: a node hands out the only block
    that it knows of a number, though it be on no branch of its own (spec 05, section 9.1). The operations come between
    the blocks and the proof that the node still has them, so that they are not those of another branch.
    """
    head, settled = ids_in(answers[-2])
    there = range(numbers.start, min(numbers.stop, block_number_of(head) + 1))
    irreversible = block_number_of(settled)
    blocks = [block_in(answers[place], number, irreversible) for place, number in enumerate(there)]
    if blocks:
        require_chain(blocks, head, answers[-1])
    if not with_history:
        return [ReadBlock(block) for block in blocks]
    found = []
    for place, block in enumerate(blocks):
        rows = rows_in(answers[len(numbers) + place], block)
        if rows is None and block is not blocks[-1]:
            raise Unsuited(PastNotKept(f"the history of the node lacks operations of block {block.number}"))
        if rows is not None:
            found.append(ReadBlock(block, rows))
    return found


def block_in(answer: object, number: int, irreversible: int) -> Block:
    if answer is None and number > irreversible:
        raise WrongAnswer(f"a node has a head above block {number}, and no such block")
    if answer is None:
        raise Unsuited(PastNotKept(f"the node does not keep block {number}"))
    if isinstance(answer, NodeError):
        raise Unsuited(answer)
    if not isinstance(answer, dict):
        raise WrongAnswer(f"what a node answers as block {number} is none")
    try:
        block = _block_of(answer)
        found = block.number
        if block.merkle_root != block.transaction_merkle_root and number not in EXCEPTED_BLOCKS:
            block = with_whole_amounts(answer, block)
        root = block.merkle_root
    except UNREADABLE as problem:
        require_known(problem, number)
        raise WrongAnswer(f"what a node answers as block {number} is none: {problem}") from None
    if found != number:
        raise WrongAnswer(f"a node answers block {found} where {number} was asked for")
    if root != EXCEPTED_BLOCKS.get(number, block.transaction_merkle_root):
        raise WrongAnswer(f"the transactions of block {number} are not those that its header has")
    return block


def _block_of(answer: Mapping[str, Any]) -> Block:
    """The block of an answer, from its JSON or its bytes."""
    if "raw_block" in answer:
        return codec_of(Block).decode_exactly(b64decode(answer["raw_block"]))
    return codec_of(Block).from_json(answer)


def require_known(problem: Exception, block: int) -> None:
    """An operation of a later hardfork is no fault of the node; though another node may answer otherwise."""
    before, is_unknown, name = (problem.text if isinstance(problem, CodecError) else "").partition(UNKNOWN_NAME)
    if is_unknown and not before:
        raise Unsuited(UnknownOperation(block, printable(name)[:MOST_NAME])) from None


def require_chain(blocks: Sequence[Block], head: BlockId, behind: object) -> None:
    for block, following in pairwise(blocks):
        if following.previous != block.id:
            raise WrongAnswer(f"block {following.number} of a node does not follow its block {block.number}")
    last = blocks[-1]
    if block_number_of(head) == last.number:
        named: bytes = head
    else:
        try:
            named = id_in(behind, "previous")
        except UNREADABLE:
            raise WrongAnswer(f"a node has a head above block {last.number}, and no header that follows it") from None
    if named != last.id:
        raise WrongAnswer(f"block {last.number} of a node is not the one that its chain has")


def rows_in(answer: object, block: Block) -> Sequence[HistoryRow] | None:
    """The operations of a block, as a node's history has them; None where it does not have all of them, or not yet.

    Of the head block, the reference also gives what has not happened: operations that wait for a block, and what they
    would bring about (spec 05, section 12.2). The latter look like what the block itself brought about.
    """
    if isinstance(answer, NodeError):
        has_none = PastNotKept("the node keeps no history of operations (its plugin operation_history is off)")
        raise Unsuited(has_none if isinstance(answer, UnknownMethod) else answer)
    own = {each.place: each for each in own_rows(block)}
    try:
        found = [_row_in(each, block, own) for each in _list(answer)]
    except UNREADABLE as problem:
        require_known(problem, block.number)
        raise WrongAnswer(f"what a node answers as operations of block {block.number} is none: {problem}") from None
    rows = [each for each in found if each is not None]
    is_whole = len(rows) == len(found) and own.keys() == {each.place for each in rows if not each.place.virtual}
    return rows if is_whole else None


def own_rows(block: Block) -> Sequence[HistoryRow]:
    """The operations of a block's transactions."""
    return [
        HistoryRow(PlaceInBlock(number, place, 0), transaction.id, operation)
        for number, transaction in enumerate(block.transactions)
        for place, operation in enumerate(transaction.operations)
    ]


def _list(answer: object) -> Sequence[Mapping[str, Any]]:
    if not isinstance(answer, list):
        raise TypeError("no list")
    return answer


def place_of(row: Mapping[str, Any]) -> PlaceInBlock:
    return PlaceInBlock(int(row["trx_in_block"]), int(row["op_in_trx"]), int(row["virtual_op"]))


def _row_in(row: Mapping[str, Any], block: Block, own: Mapping[PlaceInBlock, HistoryRow]) -> HistoryRow | None:
    """A row; one of the block's own operations as the block has it, which is proven, or None if it has no such one."""
    if row["block"] != block.number:
        raise ValueError(f"an operation of block {row['block']}")
    place = place_of(row)
    identifier = NO_TRANSACTION if place.transaction == OUTSIDE else TransactionId(id_in(row, "trx_id"))
    if not place.virtual:
        found = own.get(place)
        return found if found is not None and found.transaction_id == identifier else None
    return HistoryRow(place, identifier, codec_of(Operation).from_json(row["op"]))
