"""The ledger: the state as rules see it, with accounts by name, the head, the medians, and the cursor in the block.

Evaluators and block steps take a `Ledger` and nothing else; `applying` and `chain` drive them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ledgerd.chain.ledger import events
from ledgerd.chain.ledger.known_transactions import KnownIds, KnownTransactions
from ledgerd.chain.ledger.tracing import Mark, Trace, Tracing
from ledgerd.codec.types.lazy import lazy
from ledgerd.protocol.authorities.authority_check import Accounts
from ledgerd.protocol.authorities.authority_web import Lookups
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import VirtualOperation
from ledgerd.protocol.properties import ChainPropertiesHf14
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.memory.due_times import DueTime
from ledgerd.state.memory.editing import Editor, Rememberer
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_NAME, AUTHORITY_BY_ACCOUNT, Account, AccountAuthority
from ledgerd.state.objects.globals import (
    DYNAMIC_GLOBAL_PROPERTIES,
    HARDFORK_PROPERTIES,
    DynamicGlobalProperty,
    HardforkProperty,
)
from ledgerd.state.objects.validators import (
    VALIDATOR_BY_NAME,
    VALIDATOR_SCHEDULES,
    VALIDATORS,
    Validator,
    ValidatorSchedule,
)
from ledgerd.state.store import Store
from ledgerd.state.tables.tables import Index


class OutOfTime(Exception):
    """The time for it is over; no rule is broken, so nothing in between may take it for one."""


class Sampler(ABC):
    """Reads of the state, around an operation of a block, what cannot be seen any more when the block is applied; or,
    as a sampler of `Block`, what the state is behind the steps of a block.

    Pending transactions are not sampled. A virtual operation is sampled when it is reported: what it says is done then.
    """

    def before(self, _ledger: Ledger, _operation: Any) -> Any:  # noqa: ANN401 - what `after` wants to know
        """What `after` is to know of the state before the operation."""
        return None

    @abstractmethod
    def after(self, ledger: Ledger, operation: Any, before: Any) -> object | None:  # noqa: ANN401 - the same
        """What was found; none where nothing was."""


class BlockCursor:
    """The place in the block that is being applied: it numbers the operations that are reported."""

    __slots__ = (
        "block",
        "operation_in_transaction",
        "time",
        "transaction_id",
        "transaction_in_block",
        "virtual_operation",
    )

    def __init__(self) -> None:
        self.block = 0
        self.time = 0
        """The timestamp of the block that is being applied; for pending transactions, of the next slot."""
        self.transaction_id: TransactionId = events.NO_TRANSACTION
        self.transaction_in_block = 0
        self.operation_in_transaction = 0
        self.virtual_operation = 0

    def begin_block(self, number: int, time: int) -> None:
        """Start at the first transaction of a block."""
        self.block = number
        self.time = time
        self.transaction_in_block = 0
        self.begin_transaction(events.NO_TRANSACTION)

    def begin_transaction(self, transaction_id: TransactionId) -> None:
        """Start a transaction: operations and virtual operations are counted from the beginning."""
        self.transaction_id = transaction_id
        self.operation_in_transaction = 0
        self.virtual_operation = 0

    def end_transactions(self) -> None:
        """What follows is done by the block itself, not by a transaction."""
        self.begin_transaction(events.NO_TRANSACTION)
        self.transaction_in_block = events.AFTER_TRANSACTIONS


class Reported(NamedTuple):
    """How much of what a block does was reported at a moment."""

    operations: int
    samples: int
    changes: Mark | None


class Ledger:
    """State, network parameters and cursor, and what every rule asks of them."""

    def __init__(self, store: Store, network: ChainParameters, known: Sequence[KnownIds] = ()) -> None:
        """That of a trial knows the transactions of the trunk."""
        self.store = store
        self.known = KnownTransactions(store, known)
        self.network = network
        self.editing: Editor = store.editing
        """`with ledger.editing(a, b):` before any field of theirs is assigned."""
        self.remember: Rememberer = store.remember
        """`ledger.remember(a)` before fields of it are assigned that are in no key of an index; an error is undone with
        the session."""
        self.account: Callable[[AccountName], Account] = store.finder(ACCOUNT_BY_NAME)
        """The account of a name, which must exist. Rules ask for some twenty accounts a block."""
        self.validator: Callable[[AccountName], Validator] = store.finder(VALIDATOR_BY_NAME)
        """The validator of a name, which must exist."""
        self.authority: Callable[[AccountName], AccountAuthority] = store.finder(AUTHORITY_BY_ACCOUNT)
        """The authorities of an account, which must exist."""
        self.lookups = Lookups()
        """What checks of authorities know of accounts, and the bound on what they may look at."""
        self.authorities = Accounts(
            active=lambda name: self.authority(name).active,
            master=lambda name: self.authority(name).master,
            regular=lambda name: self.authority(name).regular,
            lookups=self.lookups,
        )
        """Where the authority check looks accounts up."""
        self.cursor = BlockCursor()
        self.operations: list[events.AppliedOperation] = []
        """What has taken effect in the block that is being applied, in order."""
        self.traced: tuple[events.TracedChange, ...] | None = None
        """What it has changed of traced rows, once it is applied; None if none are traced."""
        self.missed = events.NOTHING_MISSED
        """Whose slots before the present block have none."""
        self.tracer: Tracing | None = None
        """What traces rows through blocks, if an observer wants it."""
        self.tracing: Tracing | None = None
        """The same, while a block is applied."""
        self.samples: list[events.Sample] = []
        """What samplers have found around these operations."""
        self.is_producing = False
        """Whether checks apply that hold for new transactions only, never for blocks (spec 02, section 1.6)."""
        self.is_reporting = True
        """Whether operations are reported at all; those of pending transactions are not."""
        self.is_late: Callable[[], bool] = _never
        """Whether the time for what is not reported is over, which is asked at each operation."""
        self._scheduled_names: tuple[tuple[AccountName, ...], int] = (), 0
        self._scheduled: list[Validator] = []
        self._scheduled_ids: list[int] = []
        self.due_times: dict[Index[Any], DueTime] = {}
        """When steps of blocks have something to do next, by the indexes that they ask."""
        self.samplers: Mapping[type[Operation | Block], tuple[Sampler, ...]] = {}
        """What observers want sampled."""

    # -- the singletons

    # Each is looked for once: a table as small as these stays in memory, and an undo gives values back to the same
    # object. Rules read them some fifty times a transaction.

    @lazy
    def globals(self) -> DynamicGlobalProperty:
        """The head of the chain and its funds."""
        return self.store.get(DYNAMIC_GLOBAL_PROPERTIES, 0)

    @lazy
    def schedule(self) -> ValidatorSchedule:
        """Who produces, and the medians of what validators want."""
        return self.store.get(VALIDATOR_SCHEDULES, 0)

    @lazy
    def hardforks(self) -> HardforkProperty:
        """Which hardforks have happened."""
        return self.store.get(HARDFORK_PROPERTIES, 0)

    @property
    def median(self) -> ChainPropertiesHf14:
        """The properties that the scheduled validators agree on."""
        return self.schedule.median_props

    @property
    def now(self) -> int:
        """The time of the head block: during the transactions of a block that is the block before it."""
        return self.globals.time

    @property
    def head_number(self) -> int:
        return self.globals.head_block_number

    def hardfork(self, number: int) -> bool:
        """Whether a hardfork has happened; entry 0 of the list is genesis."""
        return len(self.hardforks.processed_hardforks) > number

    # -- accounts and validators

    def find_account(self, name: AccountName) -> Account | None:
        return self.store.lookup(ACCOUNT_BY_NAME, name)

    def validators(self, names: Iterable[AccountName]) -> list[Validator]:
        """Validators that must exist, in the order of their names here."""
        return self.store.at_each(VALIDATOR_BY_NAME, names)

    def scheduled_validators(self) -> list[Validator]:
        """Those in the schedule, only to be read: each block asks for them, and they are rarely others."""
        schedule, objects = self.schedule, self.store.objects(VALIDATORS)
        names = schedule.current_shuffled_validators, schedule.num_scheduled_validators
        if names != self._scheduled_names or [*map(objects.get, self._scheduled_ids)] != self._scheduled:
            self._scheduled_names, self._scheduled = names, self.validators(schedule.scheduled)
            self._scheduled_ids = [each.id for each in self._scheduled]
        return self._scheduled

    def find_validator(self, name: AccountName) -> Validator | None:
        return self.store.lookup(VALIDATOR_BY_NAME, name)

    # -- change

    def trace(self, trace: Trace | None) -> None:
        """Trace rows from the next block on; or no longer."""
        self.tracer = None if trace is None else Tracing(self.store, trace)
        self.traced = None

    def begin_tracing(self, tracer: Tracing) -> None:
        """A block begins whose edits are traced, until `end_tracing`."""
        tracer.begin()
        self.tracing, self.editing, self.remember = tracer, tracer.editing, tracer.remember

    def end_tracing(self) -> None:
        """The block is applied, or has failed."""
        self.tracing, self.editing, self.remember = None, self.store.editing, self.store.remember

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Run a part of a block that may fail without failing the block: all of it happens, or nothing.

        Ties in ordered indexes come back by the reference's rules, because here its undo is part of the
        consensus (spec 02, section 2.3, rule 4).
        """
        reported = self.reported()
        with self.store.begin(replays_ties=True) as session:
            try:
                yield
            except BaseException:
                session.undo()
                self.rewind(reported)
                raise
            session.squash()

    def reported(self) -> Reported:
        """How much has been reported of the block so far, before something that may be undone."""
        changes = None if self.tracing is None else self.tracing.mark()
        return Reported(len(self.operations), len(self.samples), changes)

    def rewind(self, reported: Reported) -> None:
        """The state was undone to where so much had been reported."""
        del self.operations[reported.operations :], self.samples[reported.samples :]
        if self.tracing is not None and reported.changes is not None:
            self.tracing.cut(reported.changes)

    # -- report

    def report(self, operation: Operation, virtual_operation: int = 0) -> None:
        """Report an operation at the cursor; one of a transaction has no virtual number."""
        if not self.is_reporting:
            if self.is_late():
                raise OutOfTime
            return
        cursor = self.cursor
        self.operations.append(
            events.AppliedOperation(
                cursor.transaction_id,
                cursor.block,
                cursor.transaction_in_block,
                cursor.operation_in_transaction,
                virtual_operation,
                self.now,
                operation,
            )
        )

    def emit(self, operation: Operation) -> None:
        """Report a virtual operation; they are numbered from one within a transaction."""
        self.cursor.virtual_operation += 1
        self.report(operation, self.cursor.virtual_operation)
        if self.tracing is not None:
            self.tracing.reported(len(self.operations) - 1)
        # A virtual operation is done; one of a proposal still has to be.
        if self.is_reporting and type(operation) in self.samplers and isinstance(operation, VirtualOperation):
            with self.sampled(operation):
                pass

    def sample_block(self, block: Block) -> None:
        """The steps of a block are done."""
        for sampler in self.samplers.get(Block, ()):
            self.samples.append(events.Sample(sampler, len(self.operations), sampler.after(self, block, None)))

    @contextmanager
    def sampled(self, operation: Operation) -> Iterator[None]:
        """Sample around an operation, which was reported last."""
        place, samplers = len(self.operations) - 1, self.samplers.get(type(operation), ())
        before = [sampler.before(self, operation) for sampler in samplers]
        yield
        for sampler, known in zip(samplers, before, strict=True):
            found = sampler.after(self, operation, known)
            if found is not None:
                self.samples.append(events.Sample(sampler, place, found))


def _never() -> bool:
    return False
