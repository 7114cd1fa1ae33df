"""Sends one delivery over HTTP, signed, and reads no more of the answer than its first line."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import ssl
import stat
from collections.abc import Callable
from pathlib import Path

from ledgerd.history.webhooks.settings import Target

SECONDS = 10.0
"""From the connection to the first line of the answer."""

ANSWER_BYTES = 4096

LONGEST_SECRET = 4096
OTHERS = stat.S_IRWXG | stat.S_IRWXO


class NotDelivered(Exception):
    """The receiver has not taken it; the text says why."""


def read_secret(file: Path) -> bytes:
    """The secret in a file; `NotDelivered` if it is missing, empty, too long, or readable by others."""
    try:
        with file.open("rb") as opened:
            mode, secret = os.fstat(opened.fileno()).st_mode, opened.read(LONGEST_SECRET + 1).strip()
    except OSError as problem:
        raise NotDelivered(f"the secret cannot be read: {problem.strerror}: {file}") from problem
    if mode & OTHERS:
        raise NotDelivered(f"others than its owner may read the secret: chmod 600 {file}")
    if not 0 < len(secret) <= LONGEST_SECRET:
        raise NotDelivered(f"the secret has 1 to {LONGEST_SECRET} bytes: {file}")
    return secret


def signature(secret: bytes, time: int, body: bytes) -> str:
    """What a receiver computes again: the time is signed too, so that an old delivery cannot be sent again later."""
    return hmac.new(secret, b"%d." % time + body, hashlib.sha256).hexdigest()


class Sender:
    """Sends to one receiver."""

    def __init__(self, target: Target, secret: Path, clock: Callable[[], float], seconds: float = SECONDS) -> None:
        self._target = target
        self._secret = secret
        self._clock = clock
        self._seconds = seconds
        self._encryption = ssl.create_default_context() if target.is_encrypted else None

    async def send(self, body: bytes) -> None:
        """Send, on a connection of its own; `NotDelivered` unless the answer is 200 to 299. No redirect is followed."""
        head = self._head(read_secret(self._secret), body)
        try:
            async with asyncio.timeout(self._seconds):
                status = await self._exchange(head + body)
        except TimeoutError:
            raise NotDelivered(f"no answer within {self._seconds:g} seconds") from None
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError) as problem:
            raise NotDelivered(f"{type(problem).__name__}: {problem}") from problem
        if not 200 <= status < 300:
            raise NotDelivered(f"it answered {status}")

    def _head(self, secret: bytes, body: bytes) -> bytes:
        target, now = self._target, int(self._clock())
        host = f"[{target.host}]" if ":" in target.host else target.host
        return (
            f"POST {target.path} HTTP/1.1\r\nHost: {host}:{target.port}\r\nUser-Agent: ledgerd\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            f"Ledgerd-Signature: t={now},v1={signature(secret, now, body)}\r\n\r\n"
        ).encode("ascii")

    async def _exchange(self, request: bytes) -> int:
        target = self._target
        reader, writer = await asyncio.open_connection(
            target.host, target.port, ssl=self._encryption, limit=ANSWER_BYTES
        )
        try:
            writer.write(request)
            await writer.drain()
            words = (await reader.readuntil(b"\r\n")).split(None, 2)
            if len(words) < 2 or not words[0].startswith(b"HTTP/1."):
                raise ValueError("the answer is no HTTP")
            return int(words[1])
        finally:
            writer.transport.abort()
