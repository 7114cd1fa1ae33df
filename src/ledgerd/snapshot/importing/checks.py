"""Checks of a snapshot at its import (spec 11, sections 8.3 and 8.6). All come after reading, since the state is built
beside the present one, and dropped if a check fails.
"""

from __future__ import annotations

from ledgerd.chain.forks.key_changes import acts_of
from ledgerd.chain.offline.audit import TokenTally
from ledgerd.protocol.blocks.block import EXCEPTED_BLOCKS, Block
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.types.time_text import time_text
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.export import WITH_AGENTS
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.file.sections import HEAD_BLOCK, METADATA
from ledgerd.state import Store
from ledgerd.state.objects.accounts.accounts import ACCOUNT_AUTHORITIES, ACCOUNT_BY_NAME, ACCOUNTS
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.objects.validators import VALIDATOR_BY_NAME
from ledgerd.state.views.view import View

NEEDED_SECTIONS = ("agent_permission", "key_history")
RESIDUAL_OPTION = "snapshot-pm-legacy-residual"


def require_anchor(snapshot: Snapshot, head_block: Block | None, hardfork: int) -> None:
    """The head block, if present, must be that of the header; and the file must have what hardfork 15 needs."""
    if hardfork >= WITH_AGENTS and head_block is None:
        raise SnapshotError(f'state.contains("{HEAD_BLOCK}"): Post-HF15 snapshot lacks signed head block anchor')
    if head_block is not None:
        stated = (snapshot.head_id, snapshot.head_number, snapshot.header.get("snapshot_block_time"))
        if stated != (head_block.id, head_block.number, time_text(head_block.timestamp)):
            raise SnapshotError(
                "head.id() == header.snapshot_block_id && head.block_num() == header.snapshot_block_num && "
                "head.timestamp == header.snapshot_block_time: Snapshot embedded head block does not match header "
                "anchor"
            )
    if hardfork < WITH_AGENTS:
        return
    counts = snapshot.object_counts
    for name in NEEDED_SECTIONS:
        count = snapshot.sections.get(name)
        if count is None:
            raise SnapshotError(
                f"state.contains(section) && state[section].is_array(): Post-HF15 snapshot lacks {name} section"
            )
        if counts.get(name) != count:
            raise SnapshotError(
                "count != header.object_counts.end() && count->second == state[section].get_array().size(): "
                f"Post-HF15 snapshot {name} count mismatch"
            )


def require_signed_head(store: Store, head_block: Block | None, network: ChainParameters) -> None:
    """The head block, if present, must be what the state says of its head, and signed by the validator it names. The
    reference does not check that (spec 11, section 8.3). One that may change its own key proves nothing.
    """
    if head_block is None:
        return
    head = store.get(DYNAMIC_GLOBAL_PROPERTIES, 0)
    if (head_block.validator, head_block.timestamp) != (head.current_validator, head.time):
        raise SnapshotError(
            f"the head block in the snapshot is of {head_block.validator} and {time_text(head_block.timestamp)}, and "
            f"its state of {head.current_validator} and {time_text(head.time)}"
        )
    excepted = EXCEPTED_BLOCKS.get(head_block.number)
    if head_block.merkle_root not in {head_block.transaction_merkle_root, excepted}:
        raise SnapshotError("the head block in the snapshot has other transactions than were signed with it")
    validator, acts = store.lookup(VALIDATOR_BY_NAME, head_block.validator), acts_of(head_block)
    may_have_changed = acts.approved or any(name == head_block.validator for name, _ in acts.changes)
    keys = {network.emergency_key} if head_block.validator == COMMITTEE_ACCOUNT else set()
    keys |= set() if validator is None else {validator.signing_key}
    if not may_have_changed and _signee(head_block) not in keys:
        raise SnapshotError(
            f"the head block in the snapshot, {head_block.id.hex()}, is not signed with the key of "
            f"{head_block.validator}: it is forged"
        )


def _signee(block: Block) -> PublicKey | None:
    try:
        return block.signee
    except RuleViolation:
        return None


def require_counts(snapshot: Snapshot) -> None:
    """Every section must have as many records as its header says; metadata of markets is not read."""
    for name, count in snapshot.object_counts.items():
        found = snapshot.sections.get(name) or 0
        if found != count and name != METADATA.name:
            raise SnapshotError(f"the header of the snapshot counts {count} records of {name}, and it has {found}")


def require_sums(store: Store, tally: TokenTally, residual: int) -> None:
    with store.committed() as view:
        _require_owners(view)
        shares = sum(account.vesting_shares for account in view.scan_fields(ACCOUNTS, "id", "vesting_shares"))
        total = view.get(DYNAMIC_GLOBAL_PROPERTIES, 0).total_vesting_shares
    if shares != total:
        raise SnapshotError(f"the accounts in the snapshot have {shares} shares together, and not {total}")
    if tally.excess != residual:
        raise SnapshotError(
            f"the tokens in the snapshot are {tally.excess} more than its supply, in thousandths of a VIZ, and "
            f"{RESIDUAL_OPTION} is {residual}: {tally}. {what_makes(tally.excess)}"
        )


def _require_owners(view: View) -> None:
    for authority in view.scan_fields(ACCOUNT_AUTHORITIES, "id", "account"):
        if not view.has(ACCOUNT_BY_NAME, authority.account):
            raise SnapshotError(f"the snapshot has an authority of {authority.account}, and no such account")


def what_makes(excess: int) -> str:
    return (
        "On a sound chain such a sum comes from fixed awards that gave their beneficiaries more than the award, from "
        "positions that were closed above what they had bet, or from tokens of a market that nobody was left to get. "
        f"If you know this chain to have it, set {RESIDUAL_OPTION} = {excess}"
    )


def excess_warning(excess: int) -> str:
    return (
        f"the tokens in this snapshot are {excess} more than its supply, in thousandths of a VIZ: nodes refuse to "
        f"import it, this one too, unless {RESIDUAL_OPTION} is {excess} there"
    )
