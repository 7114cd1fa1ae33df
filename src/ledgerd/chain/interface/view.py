"""What others may read of the chain. Nothing here changes it; what is given back of the state is not to be changed.

It reads the state as it is on the thread of the chain: with what has not been committed yet, and, in `state`, with
what waiting transactions have changed.
"""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.chain.forks.blocks import Blocks
from ledgerd.chain.forks.choice import ForkChoice
from ledgerd.chain.forks.database import ForkDatabase, ForkItem
from ledgerd.chain.forks.linking import Linking
from ledgerd.chain.forks.trunk import Trunk
from ledgerd.chain.ledger.assumption import Assumption
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.provenance import Provenance, provenance_of
from ledgerd.chain.log.block_log import BlockLog, BlockLogReader
from ledgerd.chain.log.rolling import RollingBlockLog
from ledgerd.chain.pending.pending import Pending
from ledgerd.chain.rules.transactions.bounds import require_usable
from ledgerd.chain.rules.validators.slots import scheduled_validator, slot_at, slot_time
from ledgerd.protocol.blocks.block import Block, SignedHeader
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import AUTHORITY_BY_ACCOUNT
from ledgerd.state.objects.globals import DynamicGlobalProperty
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, REVERSIBLE_BY_NUMBER
from ledgerd.state.objects.validators import Validator
from ledgerd.state.store import Store
from ledgerd.state.views.view import View


class ChainParts(NamedTuple):
    """What a chain is made of: for the chain itself, its offline work, and tests that build situations."""

    store: Store
    ledger: Ledger
    trunk: Trunk
    forks: ForkDatabase
    blocks: Blocks
    block_log: BlockLog
    pending: Pending
    linking: Linking
    choice: ForkChoice


class ChainView:
    """A chain to read from; for the thread of the chain alone."""

    def __init__(self, network: ChainParameters, parts: ChainParts) -> None:
        self.network = network
        self._parts = parts

    # -- where it stands

    @property
    def globals(self) -> DynamicGlobalProperty:
        return self._parts.ledger.globals

    @property
    def head_number(self) -> int:
        """The number of the head block; 0 when there is none."""
        return self._parts.trunk.head_number

    @property
    def head_id(self) -> BlockId:
        return self._parts.trunk.head_id

    @property
    def head_time(self) -> int:
        return self._parts.ledger.now

    @property
    def irreversible(self) -> int:
        return self._parts.trunk.irreversible

    @property
    def irreversible_id(self) -> BlockId:
        """Its id as the state has it; zeros where the state does not know."""
        return self.globals.last_irreversible_block_id

    @property
    def is_emergency(self) -> bool:
        return self.globals.emergency_consensus_active

    @property
    def last_hardfork(self) -> int:
        return self._parts.ledger.hardforks.last_hardfork

    def hardfork(self, number: int) -> bool:
        return self._parts.ledger.hardfork(number)

    @property
    def provenance(self) -> Provenance | None:
        """Where an imported state came from; nothing where it was made from blocks."""
        return provenance_of(self._parts.store)

    @property
    def assumption(self) -> Assumption | None:
        """The block that a provisional state waits for; nothing where the state is not provisional."""
        return self._parts.trunk.assumption

    @property
    def is_assumption_refuted(self) -> bool:
        """Whether a valid block came in the place of that block."""
        return self._parts.trunk.is_assumption_refuted

    # -- blocks of the best chain

    @property
    def block_log(self) -> BlockLogReader:
        return self._parts.block_log

    @property
    def is_rolling(self) -> bool:
        """Whether the chain began with a snapshot: its log lacks the beginning."""
        return isinstance(self._parts.block_log, RollingBlockLog)

    def block_at(self, number: int) -> Block | None:
        return self._parts.blocks.at(number)

    def id_at(self, number: int) -> BlockId:
        """The id of the block of a number; zeros when there is none."""
        return self._parts.blocks.id_at(number)

    def packed_at(self, number: int) -> bytes | None:
        """The bytes of a block, from the reversible blocks or the log. `LogDamaged`: that is damaged there."""
        if not 0 < number <= self.head_number:
            return None
        kept = self._parts.store.lookup(REVERSIBLE_BY_NUMBER, number)
        if kept is not None:
            return kept.packed
        packed = self._parts.block_log.read(number)
        if packed is None:
            for item in self._parts.forks.items_at(number)[:1]:
                return item.packed
        return packed

    def is_on_trunk(self, block_id: BlockId) -> bool:
        return self._parts.blocks.is_on_trunk(block_id)

    def refers_to_trunk(self, transaction: Transaction) -> bool:
        """Whether the block that a transaction refers to is applied, by the same table as the chain's own check.

        Number zero always passes (spec 04, section 14.1).
        """
        if transaction.ref_block_num == 0:
            return True
        summary = self._parts.store.get(BLOCK_SUMMARIES, transaction.ref_block_num)
        return int.from_bytes(summary.block_id[4:8], "little") == transaction.ref_block_prefix

    def is_signable(self, transaction: Transaction) -> bool:
        """Whether a transaction has not far more signatures than the authorities that it asks for have keys."""
        try:
            require_usable(self._parts.ledger, transaction)
        except RuleViolation:
            return False
        return True

    @property
    def members_checked(self) -> int:
        """Keys and members of authorities, for the latest transaction that was pushed."""
        return self._parts.pending.members_checked

    @property
    def seconds_spent(self) -> float:
        """The time that the same one took to apply, or to refuse."""
        return self._parts.pending.seconds_spent

    # -- branches

    def is_known(self, block_id: BlockId) -> bool:
        """Whether a block is applied or a candidate, waiting ones included."""
        return block_id != NO_BLOCK and (self.is_on_trunk(block_id) or self._parts.forks.is_known(block_id))

    def is_linked(self, block_id: BlockId) -> bool:
        """Whether a block is a candidate in a known branch, and not merely waiting for a parent."""
        return block_id in self._parts.forks

    def candidates_at(self, number: int) -> list[Block]:
        """The linked blocks of a number, in the order of their arrival."""
        return [item.block for item in self._parts.forks.items_at(number)]

    def count_candidates(self, numbers: range) -> int:
        return self._parts.forks.count_at(numbers)

    def is_minority(self) -> bool:
        """Whether the longest branch is as high as the head, and not the applied one."""
        forks = self._parts.forks
        best = forks.head
        if best is None or best.number < self.head_number:
            return False
        ours = forks.below_head(self.head_number)
        return ours is not None and ours.id != self.head_id

    def branch_order(self, first: BlockId, second: BlockId) -> int:
        """Which of two branches has more votes behind it: 1, -1, or 0 where it cannot be said (hardfork 12)."""
        return self._parts.choice.compare(first, second)

    def is_signed(self, block: Block | SignedHeader) -> bool:
        """Whether whom a block names signed it, with the key that is in force on the trunk.

        In another branch the key may be another, so that a block that is not signed proves nothing. Candidates are
        taken in before they can be judged: whoever acts on one that is not applied should ask this first.
        """
        validator = self.settled_validator(AccountName(block.validator))
        try:
            return validator is not None and block.signee == validator.signing_key
        except RuleViolation:
            return False

    def recent_producers(self, count: int) -> tuple[AccountName, ...]:
        """Who produced the longest branch, tip first, leaving out what nobody with a right to it has put on top."""
        producers: list[AccountName] = []
        item = self._longest_signed()
        while item is not None and len(producers) < count:
            producers.append(item.validator)
            item = self._parts.forks.parent_of(item)
        return tuple(producers)

    def _longest_signed(self) -> ForkItem | None:
        forks = self._parts.forks
        longest = forks.head
        if longest is None or longest.id == self.head_id or self._is_item_signed(longest):
            return longest
        for number in range(longest.number, self.head_number, -1):
            for item in forks.items_at(number):
                if self._is_item_signed(item):
                    return item
        return forks.find(self.head_id)

    def _is_item_signed(self, item: ForkItem) -> bool:
        """As `is_signed`; a candidate's key is recovered once, however often a producer asks."""
        validator = self.settled_validator(item.validator)
        return validator is not None and item.signee == validator.signing_key

    # -- validators and their slots

    @property
    def scheduled(self) -> tuple[AccountName, ...]:
        """The validators of this round, in the order of their slots."""
        return self._parts.ledger.schedule.scheduled

    def validator(self, name: AccountName) -> Validator | None:
        return self._parts.ledger.find_validator(name)

    def settled_validator(self, name: AccountName) -> Validator | None:
        """The same without what waiting transactions change: its key is the one that the next block is signed with."""
        return self._parts.pending.find_validator(name)

    def active_keys(self, name: AccountName) -> frozenset[PublicKey] | None:
        authority = self._parts.store.lookup(AUTHORITY_BY_ACCOUNT, name)
        return None if authority is None else frozenset(authority.active.key_auths)

    def slot_time(self, slot: int) -> int:
        return slot_time(self._parts.ledger, slot)

    def slot_at(self, time: int) -> int:
        """The slot that a moment falls in, counted from the head; 0 before the first."""
        return slot_at(self._parts.ledger, time)

    def scheduled_at(self, slot: int) -> AccountName:
        return scheduled_validator(self._parts.ledger, slot)

    # -- everything

    @property
    def waiting(self) -> tuple[Transaction, ...]:
        return tuple(self._parts.pending.transactions)

    @property
    def state(self) -> View:
        """All tables, for a snapshot of them: with what the waiting transactions have changed."""
        return self._parts.store.uncached
