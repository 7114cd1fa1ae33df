"""Applying a transaction: who has signed it, its bandwidth, and its operations (spec 03, section 12)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from ledgerd.basics.durations import DAY
from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import int64, uint128
from ledgerd.chain.ledger.evaluation import apply_operation
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import UNSIGNED, Skip, SkipFlags
from ledgerd.chain.rules.accounts.authorities import agent_keys
from ledgerd.protocol.authorities.authority_check import MissingActive, in_word_order, verify_required
from ledgerd.protocol.authorities.operation_authority import (
    TransactionKeys,
    is_signed_by_one_key,
    left_to_agents,
    require_agents,
    verify_operations,
)
from ledgerd.protocol.blocks.block import EXCEPTED_BLOCKS
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.constants import BANDWIDTH_PRECISION, MAX_TIME_UNTIL_EXPIRATION
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations import Authorities, Operation
from ledgerd.protocol.types.assets import fits_int64
from ledgerd.state.objects.accounts.accounts import Account
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES


def use_bandwidth(ledger: Ledger, account: Account, sizes: Iterable[int]) -> None:
    globals_ = ledger.globals
    total_shares, now = globals_.total_vesting_shares, globals_.time
    if total_shares <= 0:
        return
    window = ledger.network.bandwidth_average_window_seconds
    average, lifetime = account.average_bandwidth, account.lifetime_bandwidth
    elapsed = now - account.last_bandwidth_update
    for size in sizes:
        used = size * BANDWIDTH_PRECISION
        left = 0 if elapsed > window else uint128((window - elapsed) * average) // window
        average, lifetime, elapsed = fits_int64(int64(left) + used), fits_int64(lifetime + used), 0
        if ledger.is_producing:
            allowed = uint128(_counted_shares(ledger, account) * globals_.max_virtual_bandwidth)
            require(
                allowed > uint128(average * total_shares),
                "has_bandwidth: Account exceeded maximum allowed bandwidth per vesting share.",
            )
    ledger.remember(account)
    account.average_bandwidth = average
    account.lifetime_bandwidth = lifetime
    if account.last_bandwidth_update // DAY == now // DAY:
        account.last_bandwidth_update = now  # its index is by day
    else:
        with ledger.editing(account):
            account.last_bandwidth_update = now


def _counted_shares(ledger: Ledger, account: Account) -> int:
    """An account's shares less the reserve; accounts with too few have an equal part of the reserve."""
    median = ledger.median
    shares = uint128(account.effective_shares)
    if shares < median.bandwidth_reserve_below.amount:
        reserve = ledger.globals.total_vesting_shares * median.bandwidth_reserve_percent // HUNDRED_PERCENT
        return reserve // ledger.globals.bandwidth_reserve_candidates
    return uint128(shares * (HUNDRED_PERCENT - median.bandwidth_reserve_percent)) // HUNDRED_PERCENT


class SignedByAgents(NamedTuple):
    """The names in an operation for which only agents have signed, as things stood before the transaction."""

    operation: Operation
    names: Authorities
    keys: Collection[PublicKey]

    def check_again(self, ledger: Ledger) -> None:
        """An operation before this one may have removed an agent, or changed what it may sign."""
        require_agents(self.operation, self.names, self.keys, agent_keys(ledger.store, ledger.now))


LeftToAgents = Mapping[int, SignedByAgents]
"""By their places in a transaction, the operations to ask again about before they are carried out."""

NOTHING_LEFT: LeftToAgents = {}


def check_signers(ledger: Ledger, transaction: Transaction, keys: Collection[PublicKey] | None = None) -> LeftToAgents:
    """Whoever the operations ask for has signed, and nobody else. `keys` are those that signed, where that is known."""
    if keys is None:
        keys = transaction.signature_keys(ledger.network.chain_id)
    if ledger.hardfork(15):
        return _check_operations(ledger, transaction, keys)
    required = transaction.required
    if is_signed_by_one_key(required, keys, ledger.authorities):
        return NOTHING_LEFT
    try:
        verify_required(required, keys, ledger.authorities)
    except MissingActive:
        if not _is_excepted(ledger):
            raise
    return NOTHING_LEFT


def _check_operations(ledger: Ledger, transaction: Transaction, keys: Collection[PublicKey]) -> LeftToAgents:
    """Nothing is looked at twice for operations that their accounts' own keys have signed in the plain way."""
    operations, asked, accounts = transaction.operations, transaction.required_each, ledger.authorities
    if len(asked) == 1 and is_signed_by_one_key(asked[0], keys, accounts):
        return NOTHING_LEFT
    signed = TransactionKeys(keys, accounts)
    try:
        is_plain = verify_operations(operations, asked, signed, agent_keys(ledger.store, ledger.now)).is_plain
    except MissingActive:
        if not _is_excepted(ledger):
            raise
        is_plain = (False,) * len(operations)
    if all(is_plain) or not keys:
        return NOTHING_LEFT
    left = {}
    for place, operation in enumerate(operations):
        if not is_plain[place]:
            names = left_to_agents(asked[place], signed)
            if names.active or names.regular:
                left[place] = SignedByAgents(operation, names, keys)
    return left


def _is_excepted(ledger: Ledger) -> bool:
    return ledger.head_number + 1 in EXCEPTED_BLOCKS


def is_known(ledger: Ledger, transaction: Transaction) -> bool:
    """Whether it was included before, and could be included again. What has expired may be forgotten later."""
    known = ledger.known.find(transaction.id)
    return known is not None and known.expiration >= ledger.now


def require_new(is_new: bool) -> None:
    require(
        is_new,
        "(skip & skip_transaction_dupe_check) || trx_idx.indices().get<by_trx_id>().find(trx_id) == "
        "trx_idx.indices().get<by_trx_id>().end(): Duplicate transaction check failed",
    )


def apply_transaction(ledger: Ledger, transaction: Transaction, skip: SkipFlags) -> None:
    ledger.cursor.begin_transaction(transaction.id)
    is_new = bool(skip & Skip.TRANSACTION_DUPES) or not is_known(ledger, transaction)
    if not skip & Skip.REFUSAL_OF_DUPES:
        require_new(is_new)
    left_to_agents = check_transaction(ledger, transaction, skip)
    count_bandwidth(ledger, transaction)
    if is_new and not skip & Skip.TRANSACTION_DUPES:
        ledger.known.add(transaction)
    for place, operation in enumerate(transaction.operations):
        if place in left_to_agents:
            left_to_agents[place].check_again(ledger)
        apply_operation(ledger, operation)
        # Not the number of the operation: the trial of a proposal resets this count (spec 02, section 18.1, quirk).
        ledger.cursor.operation_in_transaction += 1


def check_transaction(ledger: Ledger, transaction: Transaction, skip: SkipFlags) -> LeftToAgents:
    """What can be said of a transaction before any of it is applied; and what is to be asked again on the way."""
    if not skip & Skip.OPERATION_CHECKS:
        transaction.check(ledger.network)
    is_signed = not skip & UNSIGNED
    left_to_agents = check_signers(ledger, transaction) if is_signed else NOTHING_LEFT
    require_timely(ledger, transaction, skip)
    return left_to_agents


def require_timely(ledger: Ledger, transaction: Transaction, skip: SkipFlags) -> None:
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
    if now < transaction.expiration <= now + MAX_TIME_UNTIL_EXPIRATION:
        return
    # One of these does not hold.
    require(
        transaction.expiration <= now + MAX_TIME_UNTIL_EXPIRATION,
        "trx.expiration <= now + fc::seconds(CHAIN_MAX_TIME_UNTIL_EXPIRATION): ",
    )
    require(now < transaction.expiration, "now < trx.expiration: ")


def count_bandwidth(ledger: Ledger, transaction: Transaction) -> None:
    """Each account that must sign pays for the whole transaction, and since hardfork 6 for each piece of data more."""
    names = transaction.required.names
    sizes = [len(transaction.packed)]
    for operation in transaction.operations:
        if operation.CARRIES_DATA and ledger.hardfork(6):
            percent = ledger.median.data_operations_cost_additional_bandwidth
            sizes.append(sizes[0] * percent // HUNDRED_PERCENT & 0xFFFFFFFF)
    for name in names if len(names) == 1 else in_word_order({*names}):
        use_bandwidth(ledger, ledger.account(name), sizes)
