"""The chain as the peer protocol uses it: nothing else in `p2p` uses `chain` (spec 04, sections 5 and 12)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from enum import Enum, auto

from ledgerd.chain.chain import Chain
from ledgerd.chain.forks.outcome import AlreadyKnown, Outcome, Refused, TooOld, Unlinked
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.files import DamageReports, LogDamaged
from ledgerd.protocol.blocks.block import Block, SignedHeader
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.identifiers import BlockId, TransactionId
from ledgerd.protocol.types.names import AccountName

log = logging.getLogger(__name__)

TIPS_ABOVE_HEAD = 5
"""Heights above the head at which blocks of other branches are counted."""
DEAD_FORK_GRACE_SECONDS, DEAD_FORK_GRACE_BLOCKS = 60, 10
"""So soon after the start, a block without a parent this little below the head is not taken to be of a dead fork."""
MOST_SIZES_AHEAD = 2
"""A block may have so many times the size that is allowed at our head: validators vote on the size."""
MOST_DECODED = 128 * 1024
"""Bytes of blocks without a checksum that are checked for one range; the reply ends there."""


class Acceptance(Enum):
    """The result of pushing a block, by the classes of spec 04, section 12."""

    ACCEPTED = auto()
    """The block was applied, and the head has moved."""
    ALREADY_KNOWN = auto()
    FORK_DB_ONLY = auto()
    """The block is not on the best branch, or not yet."""
    DEAD_FORK = auto()
    """The block is on a branch that cannot become the best."""
    REJECTED = auto()
    """The block breaks a rule."""


def acceptance_of(outcome: Outcome, running: float) -> Acceptance:
    """The class of an outcome in the table of spec 04, section 12, given the seconds since the start.

    An unlinked block is of a dead fork, unless it is above the head, its parent is known, or the node has just started.
    When another block of the branch broke a rule, the block itself is not blamed.
    """
    if outcome.has_moved:
        return Acceptance.ACCEPTED
    if isinstance(outcome, Refused):
        return Acceptance.REJECTED
    if isinstance(outcome, AlreadyKnown | TooOld):
        return Acceptance.ALREADY_KNOWN
    if isinstance(outcome, Unlinked) and outcome.behind >= 0 and not outcome.has_parent:
        is_young = running <= DEAD_FORK_GRACE_SECONDS and outcome.behind <= DEAD_FORK_GRACE_BLOCKS
        return Acceptance.FORK_DB_ONLY if is_young else Acceptance.DEAD_FORK
    return Acceptance.FORK_DB_ONLY


class ChainAccess:
    """The chain, as the peer protocol uses it."""

    def __init__(self, chain: Chain, started: float) -> None:
        self._chain = chain
        self._started = started
        self._damage = DamageReports()

    # -- head and range

    @property
    def head_number(self) -> int:
        return self._chain.head_number

    @property
    def head_id(self) -> BlockId:
        return self._chain.head_id

    @property
    def head_time(self) -> int:
        return self._chain.head_time

    @property
    def lib_number(self) -> int:
        return self._chain.irreversible

    @property
    def lib_id(self) -> BlockId:
        """The id of the last irreversible block, by the state; zeros if the state does not have it."""
        return self._chain.irreversible_id

    @property
    def _rolling(self) -> BlockLogReader | None:
        """The rolling log of a node that began with a snapshot: the first blocks of the chain are not in it."""
        return self._chain.block_log if self._chain.is_rolling else None

    @property
    def earliest(self) -> int:
        """The first block that can be served; 0 stands for all."""
        log = self._rolling
        return 0 if log is None else log.earliest_number

    @property
    def latest(self) -> int:
        """The last block that is served by ranges: the log of a pruned node ends at the irreversible one."""
        log = self._rolling
        return self.head_number if log is None else log.head_number

    @property
    def is_emergency(self) -> bool:
        """Whether an emergency is told to peers: only pruned nodes tell it, as in the reference (spec 04,
        section 20).
        """
        return self._chain.is_rolling and self._chain.is_emergency

    # -- blocks to serve and to recognise

    def read(self, number: int) -> bytes | None:
        """A block of the best chain, packed. The reference does not serve the full log here."""
        try:
            return self._chain.packed_at(number)
        except LogDamaged as problem:
            self._damage.report(problem)
            return None

    def read_run(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        """The blocks of the best chain from one number to another, packed; damaged ones and gaps are left out."""
        log_, unlogged = self._chain.block_log, max(1, first)
        enough = log_.decoded + MOST_DECODED
        try:
            for number, packed in log_.scan(unlogged, last):
                yield number, packed
                unlogged = number + 1
                if log_.decoded > enough:
                    return
        except LogDamaged as problem:
            self._damage.report(problem)
        for number in range(unlogged, min(last, self.head_number) + 1):
            kept = self.read(number)
            if kept is not None:
                yield number, kept
            if log_.decoded > enough:
                return

    @property
    def is_provisional(self) -> bool:
        """Whether no blocks are to be served, since signatures of transactions in them were not checked."""
        return self._chain.assumption is not None

    @property
    def is_assumption_refuted(self) -> bool:
        """Whether a valid block came in the place of the one that is assumed to be valid."""
        return self._chain.is_assumption_refuted

    @property
    def signers_above(self) -> int:
        """The block up to which signatures of transactions are not checked; mostly 0."""
        assumption = self._chain.assumption
        return 0 if assumption is None else assumption.number

    def is_known(self, block_id: BlockId) -> bool:
        return self._chain.is_known(block_id)

    def is_linked(self, block_id: BlockId) -> bool:
        return self._chain.is_linked(block_id)

    def is_forked(self) -> bool:
        """Whether there are other linked blocks than the head at its height and shortly above."""
        head = self.head_number
        return self._chain.count_candidates(range(head, head + TIPS_ABOVE_HEAD + 1)) > 1

    def is_minority(self) -> bool:
        return self._chain.is_minority()

    # -- blocks and transactions to take in

    def is_sound(self, block: Block) -> bool:
        """Whether number and size are possible on any branch; any time within a slot is (spec 03, section 6, quirk)."""
        return block.number > 0 and len(block.packed) <= self.largest_block

    @property
    def largest_block(self) -> int:
        """A multiple of the largest size that is allowed now: validators vote on it."""
        return MOST_SIZES_AHEAD * self._chain.globals.maximum_block_size

    def is_signed(self, block: Block | SignedHeader) -> bool:
        """Whether the block is signed with the present signing key of its validator. On its branch another key may be
        in force, so `False` proves nothing.
        """
        return self._chain.is_signed(block)

    @property
    def scheduled(self) -> tuple[AccountName, ...]:
        """The validators of this round, at our head, in the order of their slots."""
        return self._chain.scheduled

    def is_anchored(self, transaction: Transaction) -> bool:
        return self._chain.refers_to_trunk(transaction)

    def is_signable(self, transaction: Transaction) -> bool:
        """Whether a transaction has no more signatures than its operations could require."""
        return self._chain.is_signable(transaction)

    def waiting_ids(self) -> frozenset[TransactionId]:
        return frozenset(transaction.id for transaction in self._chain.waiting)

    def accept_block(self, block: Block, now: float, *, is_syncing: bool) -> Acceptance:
        """Push a block. During a sync all checks are made too, though the reference omits them, and the block becomes
        durable with `commit`.
        """
        outcome = self._chain.push_block(block, commit=not is_syncing)
        return acceptance_of(outcome, now - self._started)

    def accept_blocks(self, blocks: Sequence[Block], now: float, seconds: float) -> list[Acceptance]:
        """Push blocks of a sync: the first, and those after it that continue the head, for at most so many seconds."""
        since_start = now - self._started
        return [acceptance_of(outcome, since_start) for outcome in self._chain.push_blocks(blocks, seconds=seconds)]

    def commit(self) -> None:
        """Make the accepted blocks durable; from then on they are served."""
        self._chain.commit()

    def accept_transaction(self, transaction: Transaction) -> bool:
        """Whether the chain has accepted it. Peers are not sent the reason of a refusal.

        Another error of these kinds is a fault of ours. It changes nothing, as a refusal does, so a stranger who finds
        one gets a refusal, and not the end of the node. A block that leads to one, and a disk that fails, still end it.
        """
        try:
            self._chain.push_transaction(transaction)
        except RuleViolation:
            return False
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
            log.exception(
                "the transaction %(id)s of a peer could not be judged: it is refused", {"id": transaction.id.hex()}
            )
            return False
        return True

    @property
    def members_checked(self) -> int:
        """Keys and members of authorities that were looked at for the latest pushed transaction."""
        return self._chain.members_checked

    @property
    def seconds_spent(self) -> float:
        """Seconds that the latest pushed transaction took to be applied or refused."""
        return self._chain.seconds_spent
