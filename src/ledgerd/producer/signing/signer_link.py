"""The node's connection to its signer, on the loop of the main thread: never on that of the chain.

A question is given up after a quarter of a second and asked once more. What cannot be reached costs a slot, and never
the node; no key is on this side.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable

from ledgerd.basics.failures import reason_of
from ledgerd.basics.framing.connection import FrameConnection
from ledgerd.basics.framing.frames import FrameFault
from ledgerd.producer.signing import signing_frames
from ledgerd.producer.signing.signer_place import PlaceFault, SignerPlace, TlsFiles, tls_context
from ledgerd.producer.signing.signings import ATTEMPT_SECONDS, ATTEMPTS, SignerReply
from ledgerd.protocol.blocks.block import BlockHeader
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.supervision.work import Working

log = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
STATUS_SECONDS = 5.0
"""The pause between two status requests to a signer that works; they also keep the connection open."""
RETRY_SECONDS = 1.0
"""The pause between two attempts to reach a signer that does not answer."""


class SignerGone(ConnectionError):
    """The signer has closed the connection, or says what no signer says."""


class SignerConnection(FrameConnection):
    """One connection, and the questions on it that have no answer yet."""

    def __init__(self) -> None:
        super().__init__(signing_frames.MOST_FRAME)
        self._waiting: dict[int, asyncio.Future[signing_frames.SignerAnswer]] = {}
        self._asked = 0

    async def sign(self, key: PublicKey, header: BlockHeader) -> signing_frames.SignerAnswer:
        self._asked += 1
        return await self._answer_to(signing_frames.SigningQuestion(self._asked, key, header))

    async def status(self) -> signing_frames.SignerStatus:
        self._asked += 1
        answer = await self._answer_to(signing_frames.StatusQuestion(self._asked))
        if answer.verdict is not signing_frames.SigningVerdict.STATUS:
            raise SignerGone(answer.text)
        return signing_frames.read_status(answer)

    async def _answer_to(
        self, question: signing_frames.SigningQuestion | signing_frames.StatusQuestion
    ) -> signing_frames.SignerAnswer:
        if self._transport is None or not self.is_open:
            raise SignerGone("the connection is closed")
        future: asyncio.Future[signing_frames.SignerAnswer] = asyncio.get_running_loop().create_future()
        self._waiting[question.number] = future
        try:
            self._transport.write(signing_frames.packed_question(question))
            return await future
        finally:
            del self._waiting[question.number]

    # -- from the transport

    def receive(self, frame: bytes) -> None:
        answer = signing_frames.read_answer(frame)
        future = self._waiting.get(answer.number)
        if future is not None and not future.done():
            future.set_result(answer)

    def refuse(self, fault: FrameFault) -> None:
        self._give_up(SignerGone(f"it answers with {fault}"))
        self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._give_up(SignerGone(str(exc) if exc else "it has closed the connection"))

    def _give_up(self, problem: SignerGone) -> None:
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(problem)


class SignerLink:
    """The signer of this node, and what is known of it."""

    def __init__(
        self, place: SignerPlace, files: TlsFiles | None, on_change: Callable[[str], None] = lambda _: None
    ) -> None:
        self.place = place
        self._files = files
        self._context: ssl.SSLContext | None = None
        self._on_change = on_change
        """Called at each change with the reason why nothing would be signed now; the text is empty if blocks
        would be.
        """
        self._reported: str | None = None
        self._connection: SignerConnection | None = None

    async def sign(self, key: PublicKey, header: BlockHeader) -> SignerReply:
        """Ask for a signature, twice at the most; the second time on a connection of its own, for the same header."""
        loop, reason = asyncio.get_running_loop(), ""
        for attempt in range(ATTEMPTS):
            ends = loop.time() + ATTEMPT_SECONDS
            try:
                async with asyncio.timeout_at(ends):
                    connection = await self._connected()
                    return SignerReply(await connection.sign(key, header))
            except (OSError, PlaceFault) as problem:
                reason = reason_of(problem)
            self.close()
            if attempt + 1 < ATTEMPTS:
                await asyncio.sleep(max(0.0, ends - loop.time()))
        self._report(reason)
        return SignerReply(None, reason)

    async def run(self, working: Working) -> None:
        """Keep a connection open, and know how the signer is, until cancelled."""
        try:
            while True:
                problem = await self._problem()
                self._report(problem)
                working()
                await asyncio.sleep(RETRY_SECONDS if self._connection is None else STATUS_SECONDS)
        finally:
            self.close()

    async def status(self) -> signing_frames.SignerStatus:
        """Ask the signer how it is. `OSError`: it is away; `PlaceFault`: a file is bad; `FrameFault`: it is none."""
        async with asyncio.timeout(CONNECT_SECONDS):
            connection = await self._connected()
            return await connection.status()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _problem(self) -> str:
        """Why nothing would be signed now; empty if it would."""
        try:
            return (await self.status()).problem
        except (OSError, PlaceFault, FrameFault) as fault:
            self.close()
            return f"it is away: {reason_of(fault)}"

    def _report(self, problem: str) -> None:
        if problem == self._reported:
            return
        self._reported = problem
        if problem:
            log.error(
                "the signer at %(place)s signs nothing: %(reason)s", {"place": str(self.place), "reason": problem}
            )
        else:
            log.info("the signer at %(place)s is there", {"place": str(self.place)})
        self._on_change(problem and f"the signer at {self.place} signs nothing: {problem}")

    async def _connected(self) -> SignerConnection:
        if self._connection is not None and self._connection.is_open:
            return self._connection
        loop, place = asyncio.get_running_loop(), self.place
        if place.path is not None:
            _, connection = await loop.create_unix_connection(SignerConnection, str(place.path))
        elif place.endpoint is not None:
            host, port = place.endpoint
            _, connection = await loop.create_connection(
                SignerConnection, host, port, ssl=self._secured(), server_hostname=host
            )
        self.close()
        self._connection = connection
        return connection

    def _secured(self) -> ssl.SSLContext:
        if self._context is None:
            if self._files is None:
                raise PlaceFault("no certificates are configured")
            self._context = tls_context(self._files, is_signer=False)
        return self._context


async def status_of(place: SignerPlace, files: TlsFiles | None) -> tuple[signing_frames.SignerStatus | None, str]:
    """The status of a signer, or the reason why it cannot be known."""
    link = SignerLink(place, files)
    try:
        return await link.status(), ""
    except (OSError, PlaceFault, FrameFault) as fault:
        return None, reason_of(fault)
    finally:
        link.close()
