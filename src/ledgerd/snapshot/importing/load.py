"""Importing a snapshot into an empty state (spec 03, section 27.4; spec 06, section 12.4). The operator trusts its
source; what can be seen of a forgery is refused all the same, here and in `audit`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.provenance import Provenance, record_provenance
from ledgerd.chain.log.state_blocks import CHAIN_ID, IMPORTED, LOG_KIND
from ledgerd.chain.offline.audit import accept_discrepancies
from ledgerd.chain.rules.markets.seeds import FrozenTally, record_leverage_ends, recount_accounts, recount_oracles
from ledgerd.projections.kept import PROJECTIONS, Beginning, KeptProjections
from ledgerd.projections.markets.records import MarketRecords
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.properties import json_defaults_of
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.checks import require_anchor, require_counts, require_signed_head, require_sums
from ledgerd.snapshot.importing.filling import fill
from ledgerd.snapshot.importing.packing import Tallies
from ledgerd.state import Store
from ledgerd.state.errors import UnknownKey
from ledgerd.state.objects.discrepancies import Sum
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES, HARDFORK_PROPERTIES
from ledgerd.state.objects.markets.disputes import PM_DISPUTE_VOTES, PM_DISPUTES
from ledgerd.state.objects.validators import PENALTY_BY_VALIDATOR, VALIDATOR_SCHEDULES, VALIDATORS
from ledgerd.state.tables.tables import Table
from ledgerd.supervision.asking import AskedProcesses

SINGLE: tuple[Table[Any], ...] = (DYNAMIC_GLOBAL_PROPERTIES, VALIDATOR_SCHEDULES, HARDFORK_PROPERTIES)


def load(
    store: Store,
    snapshot: Snapshot,
    network: ChainParameters,
    residual: int = 0,
    kept: KeptProjections | None = None,
    beside: AskedProcesses | None = None,
) -> Block | None:
    """Import the state of a snapshot into an empty store, and return its head block, if the file has it.

    Its tokens must exceed its supply by exactly `residual` (spec 11, section 8.6). Metadata of markets is imported only
    where there are projections to keep it: where that plugin runs.

    Most of it is committed in steps, so that it need not fit into memory: the caller commits the rest, or deletes the
    store after a `SnapshotError`.
    """
    if snapshot.chain_id != network.chain_id:
        raise SnapshotError(
            f"Chain ID mismatch: the snapshot is of {snapshot.chain_id.hex()[:16]}..., this node of "
            f"{network.chain_id.hex()[:16]}...: choose the right `chain`, or a snapshot of this one"
        )
    tallies = Tallies()
    with json_defaults_of(network):
        head_block = fill(store, snapshot, tallies, kept=kept, beside=beside)
    _require_whole(store, network)
    require_anchor(snapshot, head_block, store.get(HARDFORK_PROPERTIES, 0).last_hardfork)
    _require_one_head(store, snapshot)
    require_signed_head(store, head_block, network)
    require_counts(snapshot)
    _heal_penalties(store)
    _heal_ballots(store)
    _trust_the_head(store)
    store.set_revision(snapshot.head_number)
    store.set_meta(CHAIN_ID, network.chain_id)
    store.set_meta(LOG_KIND, IMPORTED)
    store.commit()
    require_sums(store, tallies.tokens, residual)
    ledger = Ledger(store, network)
    _count_markets(ledger, tallies.frozen)
    if kept is not None:
        head = Beginning(snapshot.head_number, snapshot.head_id, network.chain_id)
        kept.begin((MarketRecords(),), store.uncached, head)
        store.set_meta(PROJECTIONS, kept.commit())
    store.commit()
    try:
        surplus = accept_discrepancies(ledger, residual)
    except UnknownKey:
        raise SnapshotError("a vote for a validator in the snapshot is of an account that is not in it") from None
    votes, routes = surplus[Sum.VOTES], surplus[Sum.ROUTES]
    sums = len(votes), sum(votes.values()), len(routes), sum(routes.values())
    record_provenance(store, Provenance(snapshot.head_number, 0, "", *sums))
    return head_block


def _require_whole(store: Store, network: ChainParameters) -> None:
    for table in SINGLE:
        if store.find(table, 0) is None:
            raise SnapshotError(f"the snapshot has no {table.title}: it is not whole")
    places = len(store.get(VALIDATOR_SCHEDULES, 0).current_shuffled_validators)
    if places != network.max_validators:
        raise SnapshotError(
            f"the snapshot is of a network of {places} validators in a round, this one has {network.max_validators}"
        )


def _require_one_head(store: Store, snapshot: Snapshot) -> None:
    head = store.get(DYNAMIC_GLOBAL_PROPERTIES, 0)
    if (snapshot.head_id, snapshot.head_number) != (head.head_block_id, head.head_block_number):
        raise SnapshotError(
            f"the snapshot is of block {head.head_block_number} ({head.head_block_id.hex()}), and its header of "
            "another: it is damaged"
        )


def _heal_penalties(store: Store) -> None:
    for validator in store.scan(VALIDATORS):
        if validator.penalty_percent and store.lookup(PENALTY_BY_VALIDATOR, validator.owner) is None:
            with store.editing(validator):
                validator.penalty_percent = 0
                validator.counted_votes = validator.votes


def _heal_ballots(store: Store) -> None:
    """Set the number of ballots of each dispute to that of its votes (spec 11, section 8.5)."""
    votes = Counter(vote.market for vote in store.scan(PM_DISPUTE_VOTES))
    for dispute in list(store.scan(PM_DISPUTES)):
        if dispute.ballots != votes[dispute.market]:
            with store.editing(dispute):
                dispute.ballots = votes[dispute.market]


def _trust_the_head(store: Store) -> None:
    """Make the head of the snapshot irreversible, since it cannot be undone. The next block with markets says that they
    are counted, as in the reference (spec 11, section 8.5).
    """
    head = store.get(DYNAMIC_GLOBAL_PROPERTIES, 0)
    with store.editing(head):
        head.last_irreversible_block_num = head.head_block_number
        head.last_irreversible_block_id = NO_BLOCK
        head.last_irreversible_block_ref_num = 0
        head.last_irreversible_block_ref_prefix = 0


def _count_markets(ledger: Ledger, frozen: FrozenTally) -> None:
    """Count markets now, as the first block with markets would do, since it may take long (spec 09, section 4.1). As in
    the reference, the flags stay as before this block. If the file has counted the markets of its oracles, that count
    is kept: a new one can differ (spec 09, section 3.3).
    """
    head = ledger.globals
    if not (head.pm_active_markets_seeded and head.pm_oracle_gauges_seeded):
        recount_oracles(ledger)
    recount_accounts(ledger, frozen)
    record_leverage_ends(ledger)
    with ledger.editing(head):
        head.pm_frozen_counters_seeded = False
        head.pm_frozen_counters_reseeded_v1 = False
        head.pm_active_markets_seeded = False
        head.pm_oracle_gauges_seeded = False
