"""Sends one delivery over HTTP, signed, and reads no more of the answer than its first line."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import stat
from collections.abc import Callable
from pathlib import Path

from ledgerd.basics.durable import open_file
from ledgerd.client.address import NodeAddress
from ledgerd.client.exchange import AnswerPart, AnswerReader, request_of
from ledgerd.client.pool import HttpLink

SECONDS = 10.0
"""The time from the connection to the first line of the answer."""

ANSWER_BYTES = 4096
"""The most bytes of the first line of an answer."""

LONGEST_SECRET = 4096
"""Bytes of a secret."""
OTHERS = stat.S_IRWXG | stat.S_IRWXO


class NotDelivered(Exception):
    """The receiver has not taken it; the text says why."""


def read_secret(file: Path) -> bytes:
    """The secret in a file; `NotDelivered` if it is missing, empty, too long, or readable by others."""
    try:
        with open_file(file) as opened:
            mode, secret = os.fstat(opened.fileno()).st_mode, opened.read(LONGEST_SECRET + 1).strip()
    except OSError as problem:
        raise NotDelivered(f"the secret cannot be read: {problem.strerror}: {file}") from problem
    if mode & OTHERS:
        raise NotDelivered(f"others than its owner may read the secret: chmod 600 {file}")
    if not 0 < len(secret) <= LONGEST_SECRET:
        raise NotDelivered(f"the secret must have 1 to {LONGEST_SECRET} bytes: {file}")
    return secret


def signature(secret: bytes, time: int, body: bytes) -> str:
    """The signature that a receiver computes again. The time is signed too, so an old delivery cannot be sent again
    later.
    """
    return hmac.new(secret, b"%d." % time + body, hashlib.sha256).hexdigest()


class Sender:
    """Sends deliveries to one receiver."""

    def __init__(self, target: NodeAddress, secret: Path, clock: Callable[[], float], seconds: float = SECONDS) -> None:
        self._target = target
        self._secret = secret
        self._clock = clock
        self._seconds = seconds

    async def send(self, body: bytes) -> None:
        """Send a delivery on a connection of its own; redirects are not followed. `NotDelivered`: the status is not 200
        to 299.
        """
        now = int(self._clock())
        signed = f"t={now},v1={signature(read_secret(self._secret), now, body)}"
        headers = {"User-Agent": "ledgerd", "Connection": "close", "Ledgerd-Signature": signed}
        answer = AnswerReader(0, AnswerPart.STATUS, ANSWER_BYTES)
        try:
            async with asyncio.timeout(self._seconds):
                request = request_of("POST", self._target, self._target.path, body, headers)
                link = await HttpLink.to(self._target)
                await link.ask(request, answer)
        except TimeoutError:
            raise NotDelivered(f"no answer within {self._seconds:g} seconds") from None
        except OSError as problem:
            raise NotDelivered(f"{type(problem).__name__}: {problem}") from problem
        if not 200 <= answer.status < 300:
            raise NotDelivered(f"it answered {answer.status}")
