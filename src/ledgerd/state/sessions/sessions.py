"""Sessions: changes that can be taken back, nested as block, transaction and operation (spec 02, section 2.5).

Knows what was remembered of each table, not how a table is restored from it: the store does that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

from ledgerd.state.errors import StoreMisuse
from ledgerd.state.sessions.undo import TableUndo
from ledgerd.state.tables.tables import E, Entity, Table

Changes = dict["Table[Any]", "TableUndo[Any]"]


class Session:
    """The newest of a stack of sessions, until it is squashed, undone or pushed.

    As a context it is undone at the end of the block unless it was pushed or squashed there.
    """

    __slots__ = ("_load", "_stack", "changes", "is_open", "is_stored", "kept", "replays_ties", "revision")

    def __init__(self, stack: SessionStack, revision: int, *, replays_ties: bool) -> None:
        self.revision = revision
        self.changes: Changes = {}
        self.kept: dict[int, Entity] = {}
        """While it is open: objects of which is known what they were before it and at the last commit, by identity."""
        self.replays_ties = replays_ties
        self.is_open = True
        self.is_stored = False
        """Whether the journal on the disk holds it as it is."""
        self._stack = stack
        self._load: Callable[[], Changes] | None = None

    def load(self) -> None:
        if self._load is not None:
            load, self._load = self._load, None
            self.changes = load()

    def undo(self) -> None:
        self._stack.undo(self)

    def squash(self) -> None:
        """Make its changes part of the session below; without one below they can no longer be undone."""
        self._stack.squash(self)

    def push(self) -> None:
        """Leave it on the stack: a block that can be undone until it is irreversible."""
        self._stack.push(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.is_open:
            self.undo()


class SessionStack:
    """All sessions of a store, the newest last, with the revision that they count."""

    def __init__(self, restore: Callable[[Session], None]) -> None:
        self.sessions: list[Session] = []
        """Changed by this class only; the tables read its last element before each change."""
        self.dropped: set[int] = set()
        """Revisions whose journal the next commit must delete."""
        self._restore = restore
        self.base = 0
        """The revision below the oldest session; changed by this class only."""
        self._irreversible = 0

    @property
    def revision(self) -> int:
        """The number of the newest session; in a state that of the head block, as a session ends with a block."""
        return self.sessions[-1].revision if self.sessions else self.base

    def set_revision(self, revision: int) -> None:
        """Begin to count elsewhere: after genesis, an import or a replay without sessions."""
        if self.sessions:
            raise StoreMisuse("the revision can be set only while there are no sessions")
        self.base = revision

    def begin(self, revision: int | None = None, *, replays_ties: bool) -> Session:
        """Put a new session on top; where no revision is given, it has the next one."""
        session = Session(self, self.revision + 1 if revision is None else revision, replays_ties=replays_ties)
        self.sessions.append(session)
        return session

    def add_stored(self, revision: int, load: Callable[[], Changes]) -> None:
        """Put a block of the journal on top; what it changed is read when it becomes the newest session."""
        session = self.begin(revision, replays_ties=False)
        session.is_open, session.is_stored, session._load = False, True, load  # noqa: SLF001 - the stack's own part

    def undo(self, session: Session) -> None:
        """Take a session off and restore what it changed; the session below keeps the memory of its own changes."""
        self._pop(session)
        self._restore(session)

    def squash(self, session: Session) -> None:
        self._pop(session)
        if not self.sessions:
            self.base = session.revision  # spec 03, section 5: the last record goes, the count stays
            return
        self.sessions[-1].kept.clear()  # it may have removed some of them
        below = self.sessions[-1].changes
        for table, undo in session.changes.items():
            if table in below:
                below[table].absorb(undo)
            else:
                below[table] = undo

    def push(self, session: Session) -> None:
        self._require_newest(session)
        if session.replays_ties:
            raise StoreMisuse("a session whose undo replays ties belongs inside a block: it cannot be pushed")
        session.is_open = False
        session.kept.clear()
        self.drop_until(self._irreversible)

    def drop_until(self, revision: int) -> None:
        """Forget how to undo what is irreversible; a session that is still open is kept until it is pushed."""
        self._irreversible = revision
        while self.sessions and self.sessions[0].revision <= revision and not self.sessions[0].is_open:
            session = self.sessions.pop(0)
            self.base = session.revision
            if session.is_stored:
                self.dropped.add(session.revision)

    def _pop(self, session: Session) -> None:
        self._require_newest(session)
        session.is_open = False
        self.sessions.pop()
        if session.is_stored:
            self.dropped.add(session.revision)
        if self.sessions:
            self.sessions[-1].load()

    def _require_newest(self, session: Session) -> None:
        if not self.sessions or self.sessions[-1] is not session:
            raise StoreMisuse(f"session {session.revision} is not the newest one")

    def value_at(self, table: Table[E], object_id: int, revision: int, now: E | None) -> E | None:
        for undo in self._undos_above(revision, table):
            if object_id in undo.created:
                now = None
            else:
                now = undo.modified.get(object_id) or undo.removed.get(object_id) or now
        return now

    def removed_since(self, table: Table[E], revision: int) -> Iterator[E]:
        for undo in self._undos_above(revision, table):
            yield from undo.removed.values()

    def _undos_above(self, revision: int, table: Table[E]) -> Iterator[TableUndo[E]]:
        for session in reversed(self.sessions):
            if session.revision <= revision:
                return
            session.load()
            if table in session.changes:
                yield session.changes[table]

    def unstored(self) -> Iterator[Session]:
        return (session for session in self.sessions if not session.is_stored)

    def mark_changed(self) -> None:
        """The newest session may have changed since it was stored: objects outside of all blocks go into it."""
        if self.sessions:
            self.sessions[-1].is_stored = False

    def mark_stored(self) -> None:
        """A commit has succeeded: the journal holds exactly the sessions of this stack."""
        self.dropped.clear()
        for session in self.sessions:
            session.is_stored = True
