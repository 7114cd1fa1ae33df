"""The tables of an application as they follow the chain. A transaction has the changes of its blocks and their cursor.

Blocks that can still be undone are recorded in the journal, each by itself. A fork is one transaction as well: the
blocks of the old branch are undone in it, and the first of the new one applied, so that nobody sees a half of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from traceback import extract_tb
from types import FunctionType

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from ledgerd.app.declaring.application import Application, carry_out, handler_name
from ledgerd.app.declaring.steps import ChainStep, FedBlock
from ledgerd.app.errors import DatabaseLost, HandlerFailed, TablesChanged, WrongFeed
from ledgerd.app.tables.databases import database_error_text
from ledgerd.app.tables.facts import FollowedBlock, StoredFacts
from ledgerd.app.tables.journal import UndoJournal
from ledgerd.app.tables.layout import Layout, difference, found_layout
from ledgerd.basics.failures import reason_of
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.types.identifiers import BlockId, block_number_of

MOST_KEPT = 10_000
"""Blocks that can be undone; those below them are as good as irreversible, whatever the chain says of them."""

At = Callable[[int, str, str], None]
"""Learns at which block which handler is called, and of which file; an empty name when it has returned."""


class FollowedTables:
    """Applies blocks, undoes them, and knows where the tables stand."""

    def __init__(self, application: Application, connection: Connection, journal: UndoJournal, layout: Layout) -> None:
        self._application, self._connection, self._journal, self._layout = application, connection, journal, layout
        self._facts = StoredFacts(connection)
        with connection.begin():
            self._blocks = self._facts.blocks()
            self.chain = self._facts.chain
        self.at: At = lambda _number, _name, _file: None

    @property
    def applied(self) -> Sequence[FollowedBlock]:
        """The applied blocks that can be undone, and the one before them, which can't: the newest first."""
        return self._blocks

    @property
    def next(self) -> int:
        """The number of the next block."""
        return self._blocks[0].number + 1 if self._blocks else self._application.first_block

    def keep_chain(self, chain: str) -> None:
        """Store the id of the chain, when the first node has answered with it."""
        try:
            with self._connection.begin():
                self._facts.chain = chain
        except DBAPIError as problem:
            raise DatabaseLost(f"the database: {database_error_text(problem)}") from problem
        self.chain = chain

    def advance(self, blocks: Sequence[FedBlock], irreversible: int, undone: Sequence[BlockId] = ()) -> None:
        """Undo blocks, the newest first, and apply others. At the first that fails, those before it are kept.

        `irreversible` is the number up to which blocks are, as far as is known.
        """
        before, failure = self._blocks, None
        irreversible = max(irreversible, before[0].settled if before else 0)  # not less than was known before a fork
        try:
            with self._connection.begin():
                self._require_layout()
                self._blocks = list(before)
                for block in undone:
                    self._undo(block)
                failure = self._apply_all(blocks, irreversible)
                self._journal.end()
        except DBAPIError as problem:
            self._blocks = before
            raise DatabaseLost(f"the database: {database_error_text(problem)}") from problem
        except BaseException:
            self._blocks = before
            raise
        if failure is not None:
            raise failure

    def undo_reversible(self) -> None:
        """Go back to the last block that can't be undone."""
        with self._connection.begin():
            while self._blocks and self._blocks[0].can_undo:
                self._undo(self._blocks[0].id)
            self._journal.end()

    def _apply_all(self, blocks: Sequence[FedBlock], irreversible: int) -> HandlerFailed | None:
        """The failure at which it ended early; with no block applied, it is raised: the old branch stays then."""
        settled, failure = self._blocks[0].settled if self._blocks else 0, None
        new: list[FollowedBlock] = []
        step: ChainStep | None = None
        for block in blocks:
            self._require_next(block, new[0] if new else self._blocks[0] if self._blocks else None)
            keep = block.number > irreversible
            try:
                step = self._apply(block, keep=keep)
            except HandlerFailed as problem:
                if step is None:
                    raise
                failure = problem
                break
            applied = FollowedBlock(block.number, block.id, settled, can_undo=keep)
            new = [applied, *new] if keep else [applied]
        if step is not None:
            self._finish(step, new, settled, irreversible)
        return failure

    def _apply(self, block: FedBlock, *, keep: bool) -> ChainStep:
        step = ChainStep(self._connection, block)
        self._journal.begin(block.number, keep=keep)
        with self._guarded(step):
            carry_out(self._application, step, block, self._calls(step))
        return step

    def _finish(self, step: ChainStep, new: list[FollowedBlock], settled: int, irreversible: int) -> None:
        """Tell the application what is irreversible now, and forget what will not be undone any more.

        What the application does about it belongs to the last block: it is undone with that, and done again.
        """
        reached = max(settled, min(irreversible, step.number))
        if reached > settled:
            self._journal.begin(step.number, keep=new[0].can_undo)  # a block after it may have failed
            with self._guarded(step):
                for handler in self._application.irreversible_handlers:
                    self._calls(step)(handler)
                    handler(step, reached)
        new[0] = new[0]._replace(settled=reached)
        self._facts.add(new[::-1])
        self._blocks = [*new, *self._blocks]
        final = max(reached, step.number - MOST_KEPT)
        base = next((each for each in self._blocks if each.number <= final), None)
        if base is not None and (base.can_undo or base is not self._blocks[-1]):
            self._journal.forget(base.number)
            self._facts.keep_from(base.number)
            above = [each for each in self._blocks if each.number > base.number]
            self._blocks = [*above, base._replace(can_undo=False)]

    def _undo(self, block: BlockId) -> None:
        tip = self._blocks[0] if self._blocks else None
        if tip is None or tip.id != block:
            raise WrongFeed(f"block {block_number_of(block)} is to be undone, and is not the last that was applied")
        if not tip.can_undo:
            raise WrongFeed(f"block {tip.number} is to be undone, and what it has changed is not kept any more")
        self._journal.undo(tip.number)
        self._facts.remove_block(tip.number)
        self._blocks = self._blocks[1:]

    def _require_next(self, block: FedBlock, tip: FollowedBlock | None) -> None:
        if tip is not None and block.previous != tip.id:
            raise WrongFeed(f"block {block.number} does not follow the last one that was applied, {tip.number}")
        if tip is None and block.number != self._application.first_block:
            raise WrongFeed(f"block {block.number} came first, not {self._application.first_block}")

    def _require_layout(self) -> None:
        found = found_layout(self._connection, frozenset(self._layout))
        what = difference(self._layout, found)
        if what:
            raise TablesChanged(
                f"{what}: something else than its application has changed it. Change it back, or make "
                "the tables again: ledgerd app rebuild"
            )

    def _calls(self, step: ChainStep) -> Callable[[Callable[..., object]], None]:
        def at(function: Callable[..., object]) -> None:
            step.handler = handler_name(function)
            step.file = function.__code__.co_filename if isinstance(function, FunctionType) else ""
            self.at(step.number, step.handler, step.file)

        return at

    def _guarded(self, step: ChainStep) -> _Guard:
        return _Guard(self._connection, step, self.at)


class _Guard:
    """Keeps the changes of a block as a whole or not at all. An error of a handler is reported with the place that
    raised it.
    """

    def __init__(self, connection: Connection, step: ChainStep, at: At) -> None:
        self._connection, self._step, self._at = connection, step, at

    def __enter__(self) -> None:
        self._savepoint = self._connection.begin_nested()

    def __exit__(self, _kind: object, problem: BaseException | None, _trace: object) -> None:
        self._at(self._step.number, "", "")
        if problem is None:
            try:
                self._savepoint.commit()
            except DBAPIError as raised:
                problem = raised
        if problem is None:
            return
        if isinstance(problem, DBAPIError) and problem.connection_invalidated:
            raise problem
        self._savepoint.rollback()
        if isinstance(problem, Exception | SystemExit):  # a library that ends programs would end ours without a word
            raise HandlerFailed(_words(self._step, problem)) from problem


def _words(step: ChainStep, problem: BaseException) -> str:
    at = ""
    if step.row is not None:
        place = step.row.place
        at = f", operation {name_of(type(step.row.operation))} at {place.transaction}.{place.operation}.{place.virtual}"
    why = (
        database_error_text(problem)
        if isinstance(problem, DBAPIError)
        else f"{type(problem).__name__}: {reason_of(problem)}"
    )
    file = step.file
    frames = [each for each in extract_tb(problem.__traceback__) if each.filename == file]
    line = f" ({Path(file).name}, line {frames[-1].lineno})" if frames else ""
    return f"handler {step.handler} fails at block {step.number}{at}: {why}{line}"
