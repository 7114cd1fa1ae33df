"""Applying a transaction: its checks, its bandwidth, and its operations (spec 03, section 12)."""

from __future__ import annotations

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.evaluation import apply_operation
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip, SkipFlags
from ledgerd.chain.rules.accounts.bandwidth import use_bandwidth
from ledgerd.chain.rules.transactions.signers import NOTHING_LEFT, LeftToAgents, check_signers
from ledgerd.protocol.authority_check import in_word_order
from ledgerd.protocol.constants import MAX_TIME_UNTIL_EXPIRATION
from ledgerd.protocol.errors import require
from ledgerd.protocol.transaction import Transaction
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, KNOWN_TRANSACTIONS, TRANSACTION_BY_ID, KnownTransaction


def require_new(is_new: bool) -> None:
    require(
        is_new,
        "(skip & skip_transaction_dupe_check) || trx_idx.indices().get<by_trx_id>().find(trx_id) == "
        "trx_idx.indices().get<by_trx_id>().end(): Duplicate transaction check failed",
    )


def apply_transaction(ledger: Ledger, transaction: Transaction, skip: SkipFlags) -> None:
    ledger.cursor.begin_transaction(transaction.id)
    is_new = bool(skip & Skip.TRANSACTION_DUPES) or ledger.store.lookup(TRANSACTION_BY_ID, transaction.id) is None
    if not skip & Skip.REFUSAL_OF_DUPES:
        require_new(is_new)
    left_to_agents = check_transaction(ledger, transaction, skip)
    count_bandwidth(ledger, transaction)
    if is_new and not skip & Skip.TRANSACTION_DUPES:
        ledger.store.create(
            KNOWN_TRANSACTIONS,
            KnownTransaction(packed_trx=transaction.packed, trx_id=transaction.id, expiration=transaction.expiration),
        )
    for place, operation in enumerate(transaction.operations):
        if place in left_to_agents:
            left_to_agents[place].ask_again(ledger)
        apply_operation(ledger, operation)
        # Not the number of the operation: the trial of a proposal resets this count (spec 02, section 18.1, quirk).
        ledger.cursor.operation_in_transaction += 1


def check_transaction(ledger: Ledger, transaction: Transaction, skip: SkipFlags) -> LeftToAgents:
    """What can be said of a transaction before any of it is applied; and what is to be asked again on the way."""
    if not skip & Skip.OPERATION_CHECKS:
        transaction.check(ledger.network)
    is_signed = not skip & (Skip.TRANSACTION_SIGNATURES | Skip.AUTHORITIES)
    left_to_agents = check_signers(ledger, transaction) if is_signed else NOTHING_LEFT
    require_timely(ledger, transaction, skip)
    return left_to_agents


def require_timely(ledger: Ledger, transaction: Transaction, skip: SkipFlags) -> None:
    """Refuse a transaction that refers to another branch, has expired, or expires too late."""
    globals_ = ledger.globals
    if globals_.head_block_number == 0:
        return
    if not skip & Skip.REFERENCED_BLOCK:
        block_id = ledger.store.get(BLOCK_SUMMARIES, transaction.ref_block_num).block_id
        require(
            transaction.ref_block_prefix == int.from_bytes(block_id[4:8], "little"),
            "trx.ref_block_prefix == tapos_block_summary.block_id._hash[1]: ",
        )
    now = globals_.time
    require(
        transaction.expiration <= now + MAX_TIME_UNTIL_EXPIRATION,
        "trx.expiration <= now + fc::seconds(CHAIN_MAX_TIME_UNTIL_EXPIRATION): ",
    )
    require(now < transaction.expiration, "now < trx.expiration: ")


def count_bandwidth(ledger: Ledger, transaction: Transaction) -> None:
    """Each account that must sign pays for the whole transaction, and since hardfork 6 for each piece of data more."""
    required = transaction.required
    names = {*required.active, *required.master, *required.regular}
    sizes = [len(transaction.packed)]
    pieces = sum([each.CARRIES_DATA for each in transaction.operations])
    if pieces and ledger.hardfork(6):
        surcharge = sizes[0] * ledger.median.data_operations_cost_additional_bandwidth // HUNDRED_PERCENT & 0xFFFFFFFF
        sizes += [surcharge] * pieces
    for name in names if len(names) == 1 else in_word_order(names):
        use_bandwidth(ledger, ledger.account(name), sizes)
