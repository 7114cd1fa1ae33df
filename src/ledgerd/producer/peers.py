"""What block production asks of the network: a small face, behind which there may be peers or nobody."""

from __future__ import annotations

from typing import Protocol

from ledgerd.protocol.block import Block


class Peers(Protocol):
    """The peers, as a producer sees them. All of it is called on the thread of the chain, and must not wait."""

    @property
    def count(self) -> int:
        """Open connections."""
        ...

    def broadcast_block(self, block: Block) -> None:
        """Send a block of ours to everybody."""
        ...

    def resync(self) -> None:
        """Ask for blocks again from the last irreversible one on."""
        ...


class Nobody:
    """The peers of a private network of one."""

    count = 0

    def broadcast_block(self, _block: Block) -> None:
        """There is nobody to send it to."""

    def resync(self) -> None:
        """There is nobody to ask."""
