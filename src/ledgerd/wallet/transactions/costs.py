"""What a transaction costs, of what a node says: fees that validators have voted on, and bandwidth.

No block is invalid by bandwidth, but validators do not take a transaction that has too little (spec 02, section 4.11).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ledgerd.basics.durations import DAY
from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.basics.printable import shown_text
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.constants import BANDWIDTH_PRECISION
from ledgerd.protocol.crypto.signatures import SIGNATURE_SIZE
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.types.assets import Asset
from ledgerd.sdk.transactions.accounts import BandwidthUse
from ledgerd.wallet.node.ledger import LedgerReader

WINDOW = "CHAIN_BANDWIDTH_AVERAGE_WINDOW_SECONDS"


def fees_of(operations: tuple[Operation, ...], properties: dict[str, Any]) -> Iterator[str]:
    for operation in operations:
        fee = operation.FEE
        if fee is not None and fee.property in properties:
            amount, when = shown_text(str(properties[fee.property])), " (the first time)" if fee.is_once else ""
            yield f"{amount}{when}: {fee.property}"


def bandwidth_lines(transaction: Transaction, signatures: int, ledger: LedgerReader, now: int) -> Iterator[str]:
    """The bandwidth of each account that must sign, in words; nothing if the node does not say what is needed to
    compute it.
    """
    size = len(transaction.packed) + SIGNATURE_SIZE * signatures
    for name in sorted(set(transaction.required.names)):
        use = ledger.account(name).bandwidth
        if use is None or not {"max_virtual_bandwidth", "total_vesting_shares"} <= ledger.globals.keys():
            continue
        with ledger.node.understood():
            bytes_counted, window = _counted_size(transaction, size, ledger), int(ledger.config[WINDOW])
            allowed = _allowed(use, ledger)
            left = max(0, window - max(0, now - use.since)) * use.average // window
        after = left + bytes_counted * BANDWIDTH_PRECISION
        yield (
            f"{name} uses {bytes_counted:,} bytes; with what it has sent before, {_percent(after, allowed)} of what it "
            f"may send in {'a day' if window == DAY else f'{window / DAY:g} days'}"
        )


def _counted_size(transaction: Transaction, size: int, ledger: LedgerReader) -> int:
    """The bytes themselves, and for each piece of data a part of them more (spec 02, section 4.11)."""
    pieces = sum(each.CARRIES_DATA for each in transaction.operations)
    more = int(ledger.chain_properties.get("data_operations_cost_additional_bandwidth", 0))
    return size + pieces * (size * more // HUNDRED_PERCENT)


def _allowed(use: BandwidthUse, ledger: LedgerReader) -> int:
    properties, state = ledger.chain_properties, ledger.globals
    total = codec_of(Asset).from_json(state["total_vesting_shares"]).amount
    percent = int(properties["bandwidth_reserve_percent"])
    if use.shares < codec_of(Asset).from_json(properties["bandwidth_reserve_below"]).amount:
        counted = total * percent // HUNDRED_PERCENT // int(state["bandwidth_reserve_candidates"])
    else:
        counted = use.shares * (HUNDRED_PERCENT - percent) // HUNDRED_PERCENT
    return counted * int(state["max_virtual_bandwidth"]) // total


def _percent(part: int, whole: int) -> str:
    if part >= whole:
        return "100 % or more"
    hundredths = part * HUNDRED_PERCENT // whole
    return f"{hundredths / 100:.2f} %" if hundredths else "less than 0.01 %"
