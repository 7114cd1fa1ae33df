"""What block production asks of the network: an interface with an implementation by peers, and one without any."""

from __future__ import annotations

from typing import Protocol

from ledgerd.protocol.block import Block


class Peers(Protocol):
    """The network as a producer sees it. All of it is called on the thread of the chain, and must not wait."""

    @property
    def count(self) -> int:
        """Open connections."""
        ...

    def broadcast_block(self, block: Block) -> None: ...

    def resync(self) -> None:
        """Ask for blocks again from the last irreversible one on."""
        ...


class Nobody:
    """No peers: for a private network of one."""

    count = 0

    def broadcast_block(self, _block: Block) -> None:
        """Nothing is sent."""

    def resync(self) -> None:
        """Nothing is asked for."""
