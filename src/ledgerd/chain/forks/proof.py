"""Whether a block beside the trunk can be valid, as far as its signature says: asked before it becomes a candidate,
and of a whole branch before anything is undone for it.

The keys are those at the block where the branch leaves the trunk. What transactions inside the branch may have
changed of them cannot be known without applying it: that is tried in `trial`.
"""

from __future__ import annotations

from itertools import islice

from ledgerd.chain.forks.blocks import Blocks
from ledgerd.chain.forks.database import BlockTooOld, ForkDatabase, ForkItem, Lineage
from ledgerd.chain.forks.key_changes import NO_ACTS, KeyChange, key_changes
from ledgerd.chain.forks.trunk import Trunk
from ledgerd.chain.rules.transactions.proposals import PROPOSED
from ledgerd.protocol.blocks.block import Block, require_block_size, require_merkle_root
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.proposals import PROPOSAL_BY_AUTHOR, PROPOSAL_BY_EXPIRATION, PROPOSALS
from ledgerd.state.objects.validators import VALIDATORS

SIZES = 2
"""The largest size is voted on: inside a branch it may be another, but not so many times larger."""
MOST_PROPOSALS = 64
"""Proposals that are looked into for one block; with more of them it is left open what they do."""

BAD_SIGNATURE = "next_block.validate_signee(validator.signing_key): "


class Proof:
    """Judges blocks by who signed them. It reads the trunk, and changes nothing."""

    def __init__(self, trunk: Trunk, forks: ForkDatabase, blocks: Blocks) -> None:
        self._trunk = trunk
        self._forks = forks
        self._blocks = blocks

    def check_whole(self, block: Block) -> None:
        """The transactions are those that were signed with the header, and not too many: a block's id covers its
        header only, so that somebody could send an honest id with transactions of his own, and be first.
        """
        require_merkle_root(block)
        require_block_size(len(block.packed), SIZES * self._trunk.ledger.globals.maximum_block_size)

    def is_meant(self, block: Block) -> bool:
        """Whether a block on the head is as its validator made it, so that it may be known by its id from now on."""
        validator = self._trunk.ledger.find_validator(AccountName(block.validator))
        try:
            self.check_whole(block)
            signee = block.signee
        except RuleViolation:
            return False
        return validator is not None and signee == validator.signing_key

    def judge_candidate(self, item: ForkItem) -> None:
        """Raise for a block that need not become a candidate; what continues the head is judged when it is applied."""
        if item.previous != self._trunk.head_id and not self._blocks.is_on_trunk(item.id):
            self.judge(item)

    def judge(self, item: ForkItem) -> bool:
        """Whether a block was signed with the key that its validator had where its branch leaves the trunk, and nothing
        inside the branch may have changed that key. Where it is not sure, the block may be right all the same.

        Raises:
            BlockTooOld: Its branch leaves the trunk below the irreversible block.
            RuleViolation: It was signed by nobody who could have had the right to.
        """
        lineage = None if self._trunk.is_vouched(item.number) else self._lineage(item)
        if lineage is None:
            return self._trunk.is_vouched(item.number)
        if lineage.base < self._trunk.irreversible:
            layout = "block ${number} is of a branch that leaves the chain below the irreversible block"
            raise BlockTooOld(layout, number=item.number)
        signee, given = item.signee, lineage.acts.changes
        if signee is not None and self._key_at(item.validator, lineage.base) == signee:
            return not any(name == item.validator for name, _ in given)
        is_possible = signee is not None and (
            (item.validator, signee) in given
            or (item.validator == COMMITTEE_ACCOUNT and signee == self._trunk.ledger.network.emergency_key)
            or self._is_proposed((item.validator, signee), item, lineage)
        )
        require(is_possible, BAD_SIGNATURE)
        return False

    def _lineage(self, item: ForkItem) -> Lineage | None:
        """Found out from the block below; nothing where no way leads down to the trunk."""
        pops, path, found = self._trunk.pops, [item], None
        while found is None:
            parent = self._forks.parent_of(path[-1])
            if parent is None:
                return None
            if self._blocks.is_on_trunk(parent.id):
                found = Lineage(pops, parent.number, NO_ACTS)
            elif parent.lineage is not None and parent.lineage.pops == pops:
                found = parent.lineage._replace(acts=parent.lineage.acts.followed_by(parent.acts))
            else:
                path.append(parent)
        path[-1].lineage = found
        for child, parent in zip(reversed(path[:-1]), reversed(path), strict=False):
            found = child.lineage = found._replace(acts=found.acts.followed_by(parent.acts))
        return found

    def _key_at(self, name: AccountName, number: int) -> PublicKey | None:
        """The key of a validator after a block of the trunk; none where it had none."""
        validator = self._trunk.ledger.find_validator(name)
        if validator is None:
            return None
        then = self._trunk.store.find_at(VALIDATORS, validator.id, number)
        return then.signing_key if then is not None and then.is_active else None

    def _is_proposed(self, change: KeyChange, item: ForkItem, lineage: Lineage) -> bool:
        """Whether a proposal that the branch may carry out gives a validator this key."""
        store = self._trunk.store
        approved = sorted(lineage.acts.approved)
        found = [store.lookup(PROPOSAL_BY_AUTHOR, *each) for each in approved[:MOST_PROPOSALS]]
        expiring = store.scan(PROPOSAL_BY_EXPIRATION, upper=(item.timestamp,))
        proposals = [each for each in found if each is not None]
        proposals += islice(expiring, MOST_PROPOSALS)
        proposals += islice(store.removed_since(PROPOSALS, lineage.base), MOST_PROPOSALS)
        return any(change in key_changes(PROPOSED.decode(each.proposed_operations)) for each in proposals)
