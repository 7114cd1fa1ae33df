"""A connection of the event loop whose bytes are frames (`frames`): opened, read and closed in one way."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from typing import cast

from ledgerd.basics.framing.frames import FrameBuffer, FrameFault


class FrameConnection(asyncio.Protocol):
    """The base of both ends of such a connection. Bytes that are no frame close it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._frames = FrameBuffer(most)
        self._transport: asyncio.Transport | None = None

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    @abstractmethod
    def receive(self, frame: bytes) -> None:
        """Handle the next frame. `FrameFault`: it is not what may come here."""

    def refuse(self, _fault: FrameFault) -> None:
        """Close the connection, whose bytes cannot be read on."""
        self.close()

    # -- from the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._frames = FrameBuffer(self._most)

    def data_received(self, data: bytes) -> None:
        try:
            for frame in self._frames.frames_in(data):
                self.receive(frame)
        except FrameFault as fault:
            self.refuse(fault)
