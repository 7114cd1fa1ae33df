"""A replica: follows a node over a connection that may end at any time, and tells where it stands.

It runs on a thread of its own, which blocks; what it is sent by others is bounded in bytes and in time.
"""

from __future__ import annotations

import logging
import select
import shutil
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event

import lmdb
import msgspec

from ledgerd.basics.closing import on_error
from ledgerd.basics.framing.frames import FrameBuffer, FrameFault
from ledgerd.basics.printable import printable
from ledgerd.producer.signing.signer_place import tls_context
from ledgerd.protocol.errors import OperatorError
from ledgerd.replica import messages
from ledgerd.replica.copies.logged import LoggedCopy
from ledgerd.replica.copies.state_copy import StateCopy
from ledgerd.replica.settings import StreamSettings
from ledgerd.replica.source import LAYOUT
from ledgerd.state.errors import StorageError
from ledgerd.state.files import change_frames
from ledgerd.state.files.disk import NEARLY_FULL, failure

log = logging.getLogger(__name__)

CONNECT_SECONDS = 10.0
SILENT_SECONDS = 20.0
"""The node says something every five seconds."""
MESSAGE_SECONDS = 60.0
"""A message is whole within this time."""
READ_AT_ONCE = 1 << 18
"""Bytes that are read at once."""
RECORDS_AT_ONCE = 500
"""Commits of the node that become one of ours while we are behind."""
MOST_RECORD = 1 << 30
"""Bytes of the changes of one commit."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0
"""A node that starts again is followed again before its next blocks; a connection costs it little."""
STOP_SECONDS = 1.0
"""The pause after which a silent connection checks whether it is to stop."""
LEAST_STATE = 1 << 20
MOST_REASON = 500
"""Characters of why a node does not serve, which are logged and sent to clients."""
MOST_CHAIN_ID = 32
"""Bytes of the id of a chain."""


class FollowStatus(msgspec.Struct, frozen=True):
    """How far a replica has followed its node."""

    head: int = 0
    """The head block of its state; 0 while it has none."""
    node_head: int = 0
    """The head of the node, as it was last received."""
    received_at: float = 0.0
    """The time of the last message from the node, by the monotonic clock; 0.0 if there was none."""
    is_sound: bool = False
    """Whether its state may be served: it is whole, and no digest has differed."""
    problem: str = ""
    """Why the last connection ended; empty while one lasts."""
    refusal: str = ""
    """Why the node does not serve it; empty if it does, or was not reached."""
    has_differed: bool = False
    """Whether the state that is replaced now was another than the node's."""

    @property
    def behind(self) -> int:
        return max(0, self.node_head - self.head)


Publish = Callable[[FollowStatus], None]


class LineEnded(Exception):
    """The connection is over; the text says why."""


class Differs(LineEnded):
    """The state is another than the node's."""


class NotFollowed(LineEnded):
    """The node does not serve this replica, or is not the one to follow."""


class Replica:
    """Keeps a copy of a node's state in a folder, until it is stopped."""

    def __init__(
        self,
        place: StreamSettings,
        folder: Path,
        publish: Publish,
        clock: Callable[[], float] = time.monotonic,
        chain_id: bytes = b"",
    ) -> None:
        self._place, self._on_status, self.clock = place, publish, clock
        self._context = None if place.files is None else tls_context(place.files, is_signer=False)
        self.copy, self.blocks = StateCopy(folder), LoggedCopy(folder)
        self.chain_id = chain_id or self.copy.chain_id
        """The chain id that the node must have; empty if any will do."""
        if self.copy.chain_id not in {b"", self.chain_id}:
            self.blocks.close()
            self.copy.close()
            raise OperatorError(f"{folder} holds the state of another chain: give another --data-dir or --chain")
        self.stopping = Event()
        self.status = FollowStatus(head=self.copy.head, is_sound=bool(self.copy.position))

    def run(self) -> None:
        pause = FIRST_PAUSE
        try:
            self._publish(self.status)
            while not self.stopping.is_set():
                received = self.status.received_at
                problem = self._one_connection()
                if self.stopping.is_set():
                    break
                log.warning(
                    "the connection to the node at %(place)s ended: %(problem)s",
                    {"place": str(self._place), "problem": problem},
                )
                self._publish(msgspec.structs.replace(self.status, problem=problem))
                pause = FIRST_PAUSE if self.status.received_at != received else min(2 * pause, LONGEST_PAUSE)
                self.stopping.wait(pause)
        finally:
            self.blocks.close()
            self.copy.close()

    def stop(self) -> None:
        """End soon; from any thread."""
        self.stopping.set()

    def _publish(self, status: FollowStatus) -> None:
        self.status = status
        self._on_status(status)

    def _one_connection(self) -> str:
        try:
            with self._connected() as connection:
                FollowedLine(self, connection).run()
        except Differs as problem:
            self._publish(msgspec.structs.replace(self.status, is_sound=False, has_differed=True))
            self.copy.forget()
            return str(problem)
        except NotFollowed as problem:
            self._publish(msgspec.structs.replace(self.status, refusal=str(problem)))
            return f"the node is not followed: {problem}"
        except (LineEnded, FrameFault, StorageError, OSError) as problem:
            return str(problem) or type(problem).__name__
        except lmdb.MapFullError:
            self.copy.grow()
            return "the map of the state had to grow"
        except lmdb.Error as problem:
            return str(failure(self.copy.folder, problem))
        finally:
            with suppress(lmdb.Error, StorageError):
                self.copy.abandon()
        return "it was stopped"

    def _connected(self) -> socket.socket:
        place = self._place.place
        if place is None:
            raise LineEnded("no place is named")
        if place.path is not None:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.settimeout(CONNECT_SECONDS)
            with on_error(connection.close):
                connection.connect(str(place.path))
            return connection
        if place.endpoint is None:
            raise LineEnded("no place is named")
        plain = socket.create_connection(place.endpoint, CONNECT_SECONDS)
        if self._context is None:
            return plain
        with on_error(plain.close):
            return self._context.wrap_socket(plain, server_hostname=place.endpoint.host)

    def record_contact(self, node_head: int | None = None) -> None:
        status, copy = self.status, self.copy
        head, is_sound = status.node_head if node_head is None else node_head, bool(copy.position)
        has_differed = status.has_differed and not is_sound
        self._publish(FollowStatus(copy.head, head, self.clock(), is_sound, has_differed=has_differed))

    def end_serving(self) -> None:
        self._publish(msgspec.structs.replace(self.status, is_sound=False))


class FollowedLine:
    """One connection."""

    def __init__(self, replica: Replica, connection: socket.socket) -> None:
        self._replica, self._socket = replica, connection
        self._copy, self._blocks = replica.copy, replica.blocks
        self._frames = FrameBuffer(change_frames.MOST_FRAME)
        self._record: change_frames.RecordHead | None = None
        self._record_left = 0
        self._position = self._copy.position
        """The position in the log of changes after everything that was received."""
        self._uncommitted = 0
        self._chain_id = b""
        self._loading = b""
        self._load_left = 0
        self._is_loading = False
        self._handlers: dict[int, Callable[[bytes], None]] = {
            change_frames.RecordFrame.HEAD: self._apply_head,
            change_frames.RecordFrame.PART: self._apply_part,
            messages.MessageKind.STATE: self._begin_state,
            messages.MessageKind.ROWS: self._apply_rows,
            messages.MessageKind.STATE_END: self._end_state,
            messages.MessageKind.BLOCKS: lambda body: self._blocks.append(messages.read(body, messages.LoggedBlocks)),
            messages.MessageKind.BLOCK_INFO: lambda body: self._blocks.append_records(*messages.read_block_info(body)),
            messages.MessageKind.CHECK: self._check,
            messages.MessageKind.HEAD: lambda body: replica.record_contact(messages.read(body, messages.NewHead).head),
        }

    def run(self) -> None:
        """Say hello, then take what comes. `LineEnded`: the connection is over, or the node speaks nonsense."""
        copy, blocks = self._copy, self._blocks
        chain_id = self._replica.chain_id or copy.chain_id
        hello = messages.ReplicaHello(messages.VERSION, LAYOUT, chain_id, copy.position, blocks.head, blocks.head_id)
        self._socket.sendall(messages.packed(messages.MessageKind.HELLO, hello))
        kind, body = self._next()
        if kind == messages.MessageKind.REFUSED:
            raise NotFollowed(printable(messages.read(body, messages.NotServed).reason[:MOST_REASON]))
        if kind != messages.MessageKind.WELCOME:
            raise change_frames.ChangeFault(f"a frame of kind {kind} in place of its welcome")
        welcome = messages.read(body, messages.Welcome)
        if chain_id and welcome.chain_id != chain_id:
            raise NotFollowed("it is of another chain")
        if len(welcome.chain_id) > MOST_CHAIN_ID:
            raise change_frames.ChangeFault(f"the id of a chain with {len(welcome.chain_id)} bytes")
        self._chain_id = welcome.chain_id
        self._blocks.continue_from(welcome.log_from)
        self._replica.record_contact(welcome.head)
        while not self._replica.stopping.is_set():
            kind, body = self._next()
            handler = self._handlers.get(kind)
            if handler is None:
                raise change_frames.ChangeFault(f"a frame of kind {kind}")
            handler(body)

    def _next(self) -> tuple[int, bytes]:
        """The next frame; what was received is committed before anything is waited for."""
        began = self._replica.clock()
        while self._frames.missing:
            if not self._has_more() and self._record is None:
                self._commit()
            self._frames.add(self._received())
            if self._replica.clock() - began > MESSAGE_SECONDS:
                raise LineEnded(f"a message took more than {MESSAGE_SECONDS:g} seconds")
        return change_frames.opened(self._frames.next())

    def _has_more(self) -> bool:
        if isinstance(self._socket, ssl.SSLSocket) and self._socket.pending():
            return True
        return bool(select.select([self._socket], [], [], 0)[0])

    def _received(self) -> bytes:
        silent = 0.0
        self._socket.settimeout(STOP_SECONDS)
        while not self._replica.stopping.is_set():
            try:
                data = self._socket.recv(READ_AT_ONCE)
            except TimeoutError:
                silent += STOP_SECONDS
                if silent >= SILENT_SECONDS:
                    raise LineEnded(f"the node said nothing for {SILENT_SECONDS:g} seconds") from None
                continue
            if not data:
                raise LineEnded("the node has ended it")
            return data
        raise LineEnded("it was stopped")

    # -- changes

    def _apply_head(self, body: bytes) -> None:
        head = change_frames.read_head(body)
        if self._record is not None or self._is_loading:
            raise change_frames.ChangeFault("a record within another")
        if head.before != self._position or not self._position:
            raise change_frames.ChangeFault("changes of another state")
        if head.size > MOST_RECORD:
            raise change_frames.ChangeFault(f"a record of {head.size} bytes")
        self._record, self._record_left = head, head.size
        self._end_record()

    def _apply_part(self, body: bytes) -> None:
        if self._record is None:
            raise change_frames.ChangeFault("changes without a record")
        self._record_left -= change_frames.FRAME.size + len(body)
        self._copy.add(change_frames.read_part(body))
        self._end_record()

    def _end_record(self) -> None:
        record = self._record
        if record is None or self._record_left > 0:
            return
        if self._record_left < 0:
            raise change_frames.ChangeFault("a record that is longer than it said")
        self._position, self._record = record.after, None
        self._uncommitted += 1
        if self._uncommitted >= RECORDS_AT_ONCE:
            self._commit()

    def _commit(self) -> None:
        if self._uncommitted:
            self._uncommitted = 0
            self._copy.commit(self._position, self._chain_id)
            self._replica.record_contact()

    def _check(self, body: bytes) -> None:
        position, digest = messages.read_check(body)
        if self._record is not None or position != self._position:
            raise change_frames.ChangeFault("the digest of another state")
        if digest != self._copy.digest:
            raise Differs("the digest of this state is not that of the node's: it is replaced by a whole one")

    # -- a whole state

    def _begin_state(self, body: bytes) -> None:
        begins = messages.read(body, messages.StateBegins)
        if self._record is not None or self._is_loading or self._uncommitted:
            raise change_frames.ChangeFault("a whole state among changes")
        if len(begins.position) != change_frames.POSITION.size:
            raise change_frames.ChangeFault(f"a position of {len(begins.position)} bytes")
        room = shutil.disk_usage(self._copy.folder).free + self._copy.size - NEARLY_FULL
        most = begins.size + begins.size // 2 + LEAST_STATE
        if not 0 <= most <= room:
            raise LineEnded(f"the state of the node may need {most} bytes, and there is room for {room} here")
        log.info("loading the state of the node at block %(block)d", {"block": begins.revision})
        self._replica.end_serving()
        self._copy.begin_loading()
        self._is_loading, self._loading = True, begins.position
        self._load_left = most

    def _apply_rows(self, body: bytes) -> None:
        if not self._is_loading:
            raise change_frames.ChangeFault("rows of a state that was not begun")
        self._load_left -= self._copy.load(change_frames.read_part(body))
        if self._load_left < 0:
            raise change_frames.ChangeFault("a state that is larger than it was said to be")

    def _end_state(self, body: bytes) -> None:
        ends = messages.read(body, messages.StateEnds)
        if not self._is_loading or ends.position != self._loading:
            raise change_frames.ChangeFault("the end of a state that was not begun")
        self._copy.end_loading(ends.position, self._chain_id)
        self._is_loading, self._position = False, ends.position
        log.info("the state of the node at block %(block)d is here", {"block": self._copy.head})
        self._replica.record_contact()
