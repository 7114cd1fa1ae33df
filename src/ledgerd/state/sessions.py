"""Sessions: changes that can be taken back, nested as block, transaction and operation (spec 02, section 2.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from ledgerd.state.errors import StoreMisuse

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from ledgerd.state.cache import TableCache
    from ledgerd.state.undo import TableUndo

Records = dict["TableCache[Any]", "TableUndo[Any]"]


class Session:
    """The newest of a stack of sessions, until it is squashed, undone or pushed.

    As a context it is undone at the end of the block unless it was pushed or squashed there.
    """

    __slots__ = ("_source", "_stack", "is_open", "is_stored", "records", "replays_ties", "revision")

    def __init__(self, stack: SessionStack, revision: int, *, replays_ties: bool) -> None:
        self.revision = revision
        self.records: Records = {}
        self.replays_ties = replays_ties
        self.is_open = True
        self.is_stored = False
        """Whether the journal on the disk has it, so that a restart keeps it."""
        self._stack = stack
        self._source: Callable[[], Records] | None = None

    def keep_asleep(self, source: Callable[[], Records]) -> None:
        """Make this a block of the journal, read when it comes to the top of the stack."""
        self.is_open, self.is_stored, self._source = False, True, source

    def wake(self) -> None:
        """Read what it changed, if that is still on the disk only."""
        if self._source is not None:
            source, self._source = self._source, None
            self.records = source()

    def undo(self) -> None:
        """Take back all that happened since it began."""
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

    def __init__(self) -> None:
        self.sessions: list[Session] = []
        self.dropped: set[int] = set()
        """Revisions whose stored journal must go with the next commit."""
        self._base = 0
        self._irreversible = 0

    @property
    def revision(self) -> int:
        """The number of the newest session, which is the block's when each block has one."""
        return self.sessions[-1].revision if self.sessions else self._base

    def set_revision(self, revision: int) -> None:
        """Begin to count elsewhere: after genesis, an import or a replay without sessions."""
        if self.sessions:
            raise StoreMisuse("the revision can be set only while there are no sessions")
        self._base = revision

    def begin(self, *, replays_ties: bool) -> Session:
        session = Session(self, self.revision + 1, replays_ties=replays_ties)
        self.sessions.append(session)
        return session

    def undo(self, session: Session) -> None:
        self._pop(session)
        for cache, undo in session.records.items():
            if session.replays_ties:
                cache.replay(undo)
            else:
                cache.restore(undo)
        if not self.sessions:
            self._base = session.revision - 1

    def squash(self, session: Session) -> None:
        self._pop(session)
        if not self.sessions:
            self._base = session.revision  # spec 03, section 5: the last record goes, the count stays
            return
        below = self.sessions[-1].records
        for cache, undo in session.records.items():
            if cache in below:
                below[cache].absorb(undo)
            else:
                below[cache] = undo

    def push(self, session: Session) -> None:
        self._require_newest(session)
        if session.replays_ties:
            raise StoreMisuse("a session whose undo replays ties belongs inside a block: it cannot be pushed")
        session.is_open = False
        self.drop_until(self._irreversible)

    def drop_until(self, revision: int) -> None:
        """Forget how to undo what is irreversible; a session that is still open is kept until it is pushed."""
        self._irreversible = revision
        while self.sessions and self.sessions[0].revision <= revision and not self.sessions[0].is_open:
            session = self.sessions.pop(0)
            self._base = session.revision
            if session.is_stored:
                self.dropped.add(session.revision)

    def _pop(self, session: Session) -> None:
        self._require_newest(session)
        session.is_open = False
        self.sessions.pop()
        if session.is_stored:
            self.dropped.add(session.revision)
        if self.sessions:
            self.sessions[-1].wake()

    def _require_newest(self, session: Session) -> None:
        if not self.sessions or self.sessions[-1] is not session:
            raise StoreMisuse(f"session {session.revision} is not the newest one")
