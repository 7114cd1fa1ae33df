"""The chain: `push_block`, `push_blocks` and `push_transaction` are the only ways in, `observe` is the only way out,
and `view` the only way to read.

It belongs to one thread, and reads no clock: the caller passes the time.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ledgerd.basics.closing import Closing, on_error
from ledgerd.chain.forks.blocks import Blocks
from ledgerd.chain.forks.choice import ForkChoice
from ledgerd.chain.forks.database import ForkDatabase
from ledgerd.chain.forks.linking import Linking
from ledgerd.chain.forks.outcome import Outcome
from ledgerd.chain.forks.proof import Proof
from ledgerd.chain.forks.refused import RefusedBlocks
from ledgerd.chain.forks.trial import Trial
from ledgerd.chain.forks.trunk import Trunk
from ledgerd.chain.interface.observer import Observer, merged
from ledgerd.chain.interface.view import ChainParts, ChainView
from ledgerd.chain.ledger.assumption import Assumption, assumption_of, record_assumption
from ledgerd.chain.ledger.events import BlockApplied, BlocksUndone, Event
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.provenance import record_provenance
from ledgerd.chain.ledger.skip import VERIFIED_BEFORE, Skip, SkipFlags
from ledgerd.chain.log.block_log import BlockLog
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.opening import kind_of, open_log
from ledgerd.chain.log.rolling import ROLLING_BLOCKS, RollingBlockLog, append_irreversible, trim
from ledgerd.chain.log.state_blocks import CHAIN_ID, LOG_KIND, StateBlocks
from ledgerd.chain.migrations.genesis import create_genesis
from ledgerd.chain.migrations.hardforks import apply_next_hardfork
from ledgerd.chain.pending.generation import BlockDraft, draft_block, generate_block
from ledgerd.chain.pending.pending import Clock, Pending
from ledgerd.chain.pending.simulation import SimulatedEffects
from ledgerd.chain.rules.validators.emergency import repair_schedule
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey
from ledgerd.protocol.errors import OperatorError, RuleViolation
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.files.disk import Space
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.store import Store
from ledgerd.state.tables.tables import Table
from ledgerd.state.views.view import View

log = logging.getLogger(__name__)


class Chain(ChainView, Closing):
    """State, branches, pending transactions and the block log, kept consistent with each other."""

    def __init__(
        self,
        store: Store,
        block_log: BlockLog,
        network: ChainParameters,
        clock: Clock,
        checkpoints: Mapping[int, BlockId] | None = None,
        rolling_blocks: int = ROLLING_BLOCKS,
    ) -> None:
        ledger, forks = Ledger(store, network), ForkDatabase()
        trunk, pending = Trunk(ledger, checkpoints or {}, clock), Pending(ledger, clock)
        blocks = Blocks(trunk, forks, block_log)
        linking, proof = Linking(trunk, forks, blocks, RefusedBlocks(clock)), Proof(trunk, forks, blocks)
        forks.judge = proof.judge_candidate
        choice = ForkChoice(trunk, linking, pending, proof, Trial(trunk, self._commit_all, clock))
        super().__init__(network, ChainParts(store, ledger, trunk, forks, blocks, block_log, pending, linking, choice))
        self._store, self._ledger, self._trunk = store, ledger, trunk
        self._pending, self._linking, self._choice, self._block_log = pending, linking, choice, block_log
        self._rolling_blocks = rolling_blocks
        self._clock = clock
        self._observers: list[Observer] = []
        self._schedule_trial: Callable[[], None] | None = None

    @property
    def parts(self) -> ChainParts:
        """All parts, writable: for work on a chain that nothing follows (`chain.offline`), and for tests.

        No other code of the node may use it.
        """
        return self._parts

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
        """Open the chain of a data directory, or begin one there; its state may lie in a folder of its own. `LogUnfit`:
        its last irreversible block is not in the log. `OperatorError`: it belongs to another chain. `StorageError`: the
        text says what to do about the state.
        """
        folder = data_dir / STATE_FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        space = space or Space()
        store = Store.open(space.folder or folder, STORED_TABLES, space=space)
        with on_error(store.close):
            block_log = open_log(folder, StateBlocks.of(store), rolling_blocks)
        chain = cls(store, block_log, network, clock, checkpoints, rolling_blocks)
        with on_error(chain.close):
            chain._begin(genesis_time)
        return chain

    @classmethod
    def open_without_log(cls, data_dir: Path, network: ChainParameters, *, clock: Clock, space: Space) -> Chain:
        """Open a chain whose log does not fit its state, to read the state alone."""
        folder = data_dir / STATE_FOLDER
        store = Store.open(space.folder or folder, STORED_TABLES, space=space)
        chain = cls(store, BlockLog.open(folder), network, clock)
        with on_error(chain.close):
            chain._require_network()
        return chain

    @classmethod
    def open_unlogged(cls, data_dir: Path, network: ChainParameters, *, clock: Clock, space: Space) -> Chain:
        """Open a chain whose blocks are kept elsewhere, or begin one: it has a state, and writes no log. The errors are
        those of `open`.
        """
        folder = data_dir / STATE_FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        store = Store.open(space.folder or folder, STORED_TABLES, space=space)
        chain = cls(store, RollingBlockLog(folder), network, clock, rolling_blocks=0)
        with on_error(chain.close):
            chain._begin(0)
        return chain

    def _begin(self, genesis_time: int) -> None:
        if self._store.meta(CHAIN_ID) is None:
            create_genesis(self._ledger, genesis_time)
            self._store.set_meta(CHAIN_ID, self.network.chain_id)
        self._require_network()
        if self.irreversible:
            # Right after an import: the log begins with the head block of the snapshot (spec 06, section 12.4).
            self._log_irreversible()
            self._leave_for_log()
        if self._store.meta(LOG_KIND) != kind_of(self._block_log):
            self._store.set_meta(LOG_KIND, kind_of(self._block_log))
        self._trunk.assumption = assumption_of(self._store)
        self._store.commit()
        repair_schedule(self._ledger)
        self._linking.begin()

    def _end_assumption(self, assumption: Assumption) -> None:
        """Once the chain has the assumed block, the blocks below it are what the operator has vouched for."""
        if self.head_number >= assumption.number and self.id_at(assumption.number) == assumption.block_id:
            self._trunk.assumption = None
            record_assumption(self._store, None)

    def _require_network(self) -> None:
        known = self._store.meta(CHAIN_ID)
        if known is not None and known != self.network.chain_id:
            raise OperatorError(
                f"this state belongs to the chain {known.hex()[:16]}..., not to {self.network.name} "
                f"({self.network.chain_id.hex()[:16]}...): use another --data-dir, or another chain"
            )

    def _leave_for_log(self) -> None:
        """Undo what is not in the log, where that goes on above the head: a replay applies the log's blocks.

        So it is after a kill between the log and the commit of a switch to a branch that became irreversible at once.
        """
        while self.irreversible < self.head_number <= self._block_log.head_number:
            block = self._block_log.block(self.head_number)
            if block is None or block.id == self.head_id:
                break
            self._trunk.pop()
        self._trunk.happened.clear()

    # -- in

    def push_block(
        self,
        block: Block,
        skip: SkipFlags = Skip.NOTHING,
        *,
        commit: bool = True,
        instead_of: Collection[BlockId] = (),
    ) -> Outcome:
        """Take a block in, from peers, clients and the producer alike.

        What became of it is in the outcome; no rule is raised. With `commit` off, its changes become durable, and its
        events are sent, with a later `commit`: for a batch of blocks. The producer of a block may name the candidates
        that it gives up for it.
        """
        if block.transactions and self._pending.transactions:
            self._pending.copy_signers(block.transactions)
        self._pending.allow_undo()
        try:
            outcome = self._choice.push(block, skip, instead_of=instead_of)
        finally:
            try:
                self._settle_push(commit=commit)
            finally:
                self._pending.apply_again(skip)
        for observer in self._observers:
            observer.pushed(block, outcome)
        return outcome

    def push_blocks(
        self,
        blocks: Sequence[Block],
        skip: SkipFlags = Skip.NOTHING,
        *,
        seconds: float = math.inf,
        for_good: bool = False,
    ) -> Sequence[Outcome]:
        """Take in the first of some blocks, and those behind it that continue the head: what became of each.

        This is what `push_block` does one by one, without a commit, at a lower cost: for a sync and a replay. It ends
        with a block that is not applied, or with the one during which the time is over. Of blocks that are taken in for
        good, all at once, none can be undone.
        """
        try:
            outcomes = self._choice.push_blocks(blocks, skip, seconds, for_good=for_good)
        finally:
            self._settle_push(commit=False)
        if not outcomes:
            return (self.push_block(blocks[0], skip, commit=False),)
        for observer in self._observers:
            for block, outcome in zip(blocks, outcomes, strict=False):
                observer.pushed(block, outcome)
        return outcomes

    def _settle_push(self, *, commit: bool) -> None:
        """What follows from a push, whatever became of its block."""
        self._linking.follow_trunk()
        if self._trunk.assumption is not None:
            self._end_assumption(self._trunk.assumption)
        if commit and self._trunk.happened:
            self._pending.undo()
            self._commit()
        self._continue_trial()

    def try_in_pieces(self, schedule: Callable[[], None]) -> None:
        """Apply long branches beside the trunk in pieces; the function is to have `try_further` called soon, once."""
        self._schedule_trial = schedule
        self._choice.try_in_pieces()

    def try_further(self) -> None:
        """Apply another piece of the branch that is being tried, and switch to it after the last one."""
        conclude = self._choice.try_further()
        if conclude is not None:
            with self._pending.set_aside(Skip.NOTHING):
                try:
                    conclude()
                except RuleViolation as rule:
                    log.warning("the branch that was tried is left: %(rule)s", {"rule": rule})
                finally:
                    self._linking.follow_trunk()
                    self._commit()
        self._continue_trial()

    def _continue_trial(self) -> None:
        if self._choice.is_trying and self._schedule_trial is not None:
            self._schedule_trial()

    def push_transaction(self, transaction: Transaction, skip: SkipFlags = Skip.NOTHING) -> None:
        self._pending.push(transaction, skip)

    def simulate_transaction(self, transaction: Transaction) -> SimulatedEffects:
        """What a transaction would do if it were pushed now, or raise the rule that it breaks; nothing of it stays."""
        return self._pending.simulate(transaction)

    def generate_block(self, when: int, name: AccountName, key: PrivateKey, skip: SkipFlags = Skip.NOTHING) -> Block:
        """Make the block of a slot of ours; it still has to be pushed."""
        return generate_block(self._ledger, self._pending, when, name, key, skip)

    def draft_block(self, when: int, name: AccountName, key: PublicKey, skip: SkipFlags = Skip.NOTHING) -> BlockDraft:
        """Make the block of a slot of ours, which somebody else has to sign."""
        return draft_block(self._ledger, self._pending, when, name, key, skip)

    def pop_block(self) -> None:
        with self._pending.set_aside(Skip.NOTHING):
            self._choice.pop()
            self._commit()

    def apply_again(self, number: int) -> None:
        """Undo the blocks above this one, as far as they can be, and apply them again: their events are sent again."""
        with self._pending.set_aside(Skip.NOTHING):
            undone: list[Block] = []
            while self.head_number > number and self._trunk.can_pop():
                undone.append(self._trunk.pop())
            for block in reversed(undone):
                self._trunk.apply(block, VERIFIED_BEFORE)
            self._commit()

    def force_hardforks(self, last: int) -> tuple[int, ...]:
        """Apply every hardfork up to this one at once, without votes and outside any block; for networks of tests.

        What it changes is undone with the head block if that is undone (spec 11, section 9.6).
        """
        forced = tuple(range(self.last_hardfork + 1, last + 1))
        with self._pending.set_aside(Skip.NOTHING):
            for _ in forced:
                apply_next_hardfork(self._ledger)
            self._commit_all()
        return forced

    def commit(self) -> None:
        """Make durable what has happened since the last commit, and send its events."""
        with self._pending.set_aside(Skip.NOTHING):
            self._commit()

    def assume_valid(self, assumption: Assumption) -> None:
        """Check no signatures of transactions up to a block that is not there yet; until then the state is provisional.

        What the state waits for already stays.
        """
        if self._trunk.assumption is None and self.head_number < assumption.number:
            self._trunk.assumption = assumption
            record_assumption(self._store, assumption)
            self.make_durable()

    def record_audit(self) -> None:
        """Record for good that the imported state has passed all checks."""
        provenance = self.provenance
        if provenance is not None:
            record_provenance(self._store, replace(provenance, is_audited=True))
            self.make_durable()

    def forget_branches(self) -> None:
        """Drop all candidates, and what is remembered of refused blocks, so that peers may send each of them again."""
        self._choice.forget()

    def go_back(self) -> int:
        """Undo all blocks above the last irreversible one, and forget all branches; how many blocks were undone."""
        with self._pending.set_aside(Skip.NOTHING):
            count = self._choice.go_back()
            self._commit_all()
        return count

    def forget_waiting(self) -> None:
        self._pending.clear()

    # -- out

    @property
    def state_folder(self) -> Path:
        return self._store.folder

    @property
    def space(self) -> Space:
        """How large the file of the state may be, and where what its commits change is written too."""
        return self._store.space

    def observe(self, observer: Observer) -> None:
        """Have an observer called from now on, after those that are there."""
        traces = {each.trace for each in (*self._observers, observer) if each.trace is not None}
        if len(traces) > 1:
            raise ValueError("rows of one table are traced at a time")
        self._observers.append(observer)
        self._find_wanted()

    @property
    def observers(self) -> tuple[Observer, ...]:
        return tuple(self._observers)

    def stop_observing(self, observer: Observer) -> None:
        self._observers.remove(observer)
        self._find_wanted()

    def _find_wanted(self) -> None:
        self._ledger.trace(next((each.trace for each in self._observers if each.trace is not None), None))
        self._pending.observers = [each for each in self._observers if each.wants_pending]
        self._trunk.is_observed = bool(self._observers)
        self._trunk.watched = frozenset[Table[Any]]().union(*(each.tables for each in self._observers))
        self._ledger.samplers = merged(each.samplers for each in self._observers)

    def committed(self) -> AbstractContextManager[View]:
        """The state of the last commit: where changes begin from. Read it before the chain goes on."""
        return self._store.committed()

    def named_value(self, name: str) -> bytes | None:
        return self._store.meta(name)

    def set_named_value(self, name: str, value: bytes) -> None:
        """Keep a named value with the state, from its next commit on."""
        self._store.set_meta(name, value)

    def make_durable(self) -> None:
        """Make all durable at once, also what no block has changed."""
        with self._pending.set_aside(Skip.NOTHING):
            self._commit_all()

    def _commit(self) -> None:
        """Make durable what happened, then pass it on; a kill between two lines is repaired at the next start.

        The log comes first: the state may delete an irreversible block only when the log has it on the disk.
        """
        events = self._trunk.happened
        if not events:
            return
        began = self._clock()
        self._log_irreversible()
        for observer in self._observers:
            observer.committing(events)
        self._store.commit()
        trim(self._block_log, self._rolling_blocks)
        seconds = self._clock() - began
        self._trunk.happened = []
        for event in events:
            for observer in self._observers:
                _pass_on(event, observer)
        for observer in self._observers:
            observer.committed(seconds)

    def _commit_all(self) -> None:
        self._commit()
        self._store.commit()

    def _log_irreversible(self) -> None:
        blocks = self._trunk.irreversible_after(self._block_log.head_number)
        append_irreversible(self._block_log, blocks, self._rolling_blocks)
        self._trunk.forget_logged()

    def close(self) -> None:
        self._choice.stop_trying()
        for observer in self._observers:
            observer.closing()
        self._block_log.close()
        self._store.close()


def _pass_on(event: Event, observer: Observer) -> None:
    if isinstance(event, BlockApplied):
        observer.applied(event)
    elif isinstance(event, BlocksUndone):
        observer.undone(event)
    else:
        observer.irreversible(event.number)
