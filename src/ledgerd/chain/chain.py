"""The chain: one way in for blocks and transactions, one way out for what has become of them.

It belongs to one thread, and reads no clock: the caller says what time it is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ledgerd.chain.events import Event
from ledgerd.chain.forks.blocks import Blocks
from ledgerd.chain.forks.choice import ForkChoice
from ledgerd.chain.forks.database import ForkDatabase
from ledgerd.chain.forks.trunk import Trunk
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import VERIFIED_BEFORE, Skip, SkipFlags
from ledgerd.chain.log.block_log import BlockLog
from ledgerd.chain.log.keeping import ROLLING_BLOCKS, open_log, trim, write_settled
from ledgerd.chain.migrations.genesis import create_genesis
from ledgerd.chain.pending.generation import generate_block
from ledgerd.chain.pending.pending import Clock, Pending
from ledgerd.chain.rules.validators.emergency import mend_schedule
from ledgerd.protocol.errors import OperatorError, RuleViolation
from ledgerd.protocol.identifiers import NO_BLOCK, BlockId
from ledgerd.protocol.names import AccountName
from ledgerd.state.disk import Space
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES, DynamicGlobalProperty
from ledgerd.state.store import Store

if TYPE_CHECKING:
    from ledgerd.protocol.block import Block
    from ledgerd.protocol.keys import PrivateKey, PublicKey
    from ledgerd.protocol.parameters import ChainParameters
    from ledgerd.protocol.transaction import Transaction

log = logging.getLogger(__name__)

STATE_FOLDER = "state"
CHAIN_ID = "chain id"

Listener = Callable[[Event], None]
Recorder = Callable[[Sequence[Event]], None]


class Chain:
    """State, branches, waiting transactions and the log, kept in step."""

    def __init__(
        self,
        store: Store,
        block_log: BlockLog,
        network: ChainParameters,
        clock: Clock,
        checkpoints: Mapping[int, BlockId] | None = None,
        rolling_blocks: int = ROLLING_BLOCKS,
    ) -> None:
        self.store = store
        self.network = network
        self.ledger = Ledger(store, network)
        self.trunk = Trunk(self.ledger, checkpoints or {})
        self.forks = ForkDatabase()
        self.block_log = block_log
        self.blocks = Blocks(self.trunk, self.forks, block_log)
        self.pending = Pending(self.ledger, clock)
        self._choice = ForkChoice(self.trunk, self.forks, self.blocks, self.pending)
        self._rolling_blocks = rolling_blocks
        self._listeners: list[Listener] = []
        self._recorders: list[Recorder] = []

    @classmethod
    def open(
        cls,
        data_dir: Path,
        network: ChainParameters,
        *,
        clock: Clock,
        genesis_time: int = 0,
        checkpoints: Mapping[int, BlockId] | None = None,
        space: Space | None = None,
        rolling_blocks: int = ROLLING_BLOCKS,
    ) -> Chain:
        """Open the chain of a data directory, or begin one there; its state may lie in a folder of its own.

        Raises:
            OperatorError: The directory belongs to another chain.
            StorageError: The state cannot be used; its text says what to do.
        """
        folder = data_dir / STATE_FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        space = space or Space()
        store = Store.open(space.folder or folder, STORED_TABLES, space=space)
        try:
            standing = store.find(DYNAMIC_GLOBAL_PROPERTIES, 0) or DynamicGlobalProperty()
            head, irreversible = standing.head_block_number, standing.last_irreversible_block_num
            block_log = open_log(folder, irreversible, head, standing.head_block_id)
        except BaseException:
            store.close()
            raise
        chain = cls(store, block_log, network, clock, checkpoints, rolling_blocks)
        try:
            chain._begin(genesis_time)
        except BaseException:
            chain.close()
            raise
        return chain

    def _begin(self, genesis_time: int) -> None:
        known = self.store.meta(CHAIN_ID)
        if known is None:
            create_genesis(self.ledger, genesis_time)
            self.store.set_meta(CHAIN_ID, self.network.chain_id)
            self.store.commit()
        elif known != self.network.chain_id:
            raise OperatorError(
                f"this state belongs to the chain {known.hex()}, not to {self.network.name} "
                f"({self.network.chain_id.hex()}): use another --data-dir, or another chain"
            )
        elif self.irreversible and self.trunk.reversible(self.irreversible) is not None:
            # Right after an import: the log begins with the head block of the snapshot (spec 06, section 12.4).
            self._settle()
            self.store.commit()
        mend_schedule(self.ledger)
        self.forks.is_emergency = self.ledger.globals.emergency_consensus_active
        for number in range(max(1, self.irreversible), self.head_number + 1):
            block = self.blocks.at(number)
            if block is not None:
                if self.forks.head is None:
                    self.forks.start(block)
                else:
                    self.forks.push(block)
        if self.head_number and self.forks.head is None:
            self.forks.anchor(self.head_id)

    # -- where it stands

    @property
    def head_number(self) -> int:
        """The number of the head block."""
        return self.trunk.head_number

    @property
    def head_id(self) -> BlockId:
        """The id of the head block."""
        return self.trunk.head_id

    @property
    def irreversible(self) -> int:
        """The number of the last irreversible block."""
        return self.trunk.irreversible

    def branch_order(self, first: BlockId, second: BlockId) -> int:
        """Which of two branches has more votes behind it: 1, -1, or 0 where it cannot be said (hardfork 12)."""
        return self._choice.compare(first, second)

    def is_signed(self, block: Block) -> bool:
        """Whether whom a block names signed it, with the key that is in force on the trunk.

        In another branch the key may be another, so that a block that is not signed proves nothing. Candidates are
        taken in before they can be judged: whoever acts on one that is not applied should ask this first.
        """
        validator = self.ledger.find_validator(AccountName(block.validator))
        try:
            return validator is not None and block.signee == validator.signing_key
        except RuleViolation:
            return False

    # -- in

    def push_block(self, block: Block, skip: SkipFlags = Skip.NOTHING, *, commit: bool = True) -> bool:
        """Take a block in; whether the head has moved.

        With `commit` off, what it did becomes durable, and is told, with a later `commit`: for a batch of blocks.
        """
        if block.transactions and self.pending.transactions:
            self.pending.lend_signers(block.transactions)
        with self.pending.set_aside(skip):
            try:
                return self._choice.push(block, skip)
            finally:
                self._follow_head()
                if commit:
                    self._commit()

    def push_transaction(
        self, transaction: Transaction, skip: SkipFlags = Skip.NOTHING, keys: Collection[PublicKey] | None = None
    ) -> None:
        """Accept a transaction to wait for a block, or raise the rule that it breaks."""
        self.pending.push(transaction, skip, keys)

    def generate_block(self, when: int, name: AccountName, key: PrivateKey, skip: SkipFlags = Skip.NOTHING) -> Block:
        """Make the block of a slot of ours; it still has to be pushed."""
        return generate_block(self.ledger, self.pending, when, name, key, skip)

    def pop_block(self) -> None:
        """Take the head block off; its transactions wait again."""
        with self.pending.set_aside(Skip.NOTHING):
            self.pending.give_back(self.trunk.pop().transactions)
            self.forks.pop()
            self._commit()

    def retell(self, number: int) -> None:
        """Take the blocks above this one off and put them on again, so that what happened in them is told once more."""
        above = [self.blocks.at(each) for each in range(number + 1, self.head_number + 1)]
        with self.pending.set_aside(Skip.NOTHING):
            while self.head_number > number:
                self.trunk.pop()
            for block in above:
                if block is not None:
                    self.trunk.apply(block, VERIFIED_BEFORE)
            self._commit()

    def commit(self) -> None:
        """Make durable, and tell, what has happened since the last commit."""
        with self.pending.set_aside(Skip.NOTHING):
            self._commit()

    # -- out

    def subscribe(self, listener: Listener) -> None:
        """Be told every committed fact, in order."""
        self._listeners.append(listener)

    def precede(self, recorder: Recorder) -> None:
        """Be handed what each commit of the state will make durable, before it does.

        A kill between the two leaves a recorder ahead of the state, never behind. A commit that failed is tried
        again with the same facts.
        """
        self._recorders.append(recorder)

    def _commit(self) -> None:
        """The log first: the state may forget an irreversible block only when the log is sure to have it."""
        if not self.trunk.happened:
            return
        self._settle()
        for record in self._recorders:
            record(self.trunk.happened)
        self.store.commit()
        trim(self.block_log, self._rolling_blocks)
        happened, self.trunk.happened = self.trunk.happened, []
        for event in happened:
            for listener in self._listeners:
                listener(event)

    def _settle(self) -> None:
        write_settled(self.block_log, self.trunk.take_settled(), self._rolling_blocks, self.irreversible)

    def _follow_head(self) -> None:
        """The fork database looks no further down than to the irreversible block."""
        self.forks.is_emergency = self.ledger.globals.emergency_consensus_active
        if self.head_id != NO_BLOCK:
            self.forks.narrow(self.head_number - self.irreversible + 1)

    def close(self) -> None:
        """Let the files go; what was not committed is lost."""
        self.block_log.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
