"""Why a stream can't go on."""

from __future__ import annotations

from ledgerd.sdk.errors import ClientError


class ForkTooDeep(ClientError):
    """Blocks that the stream has given are not on the chain any more, and it does not know from where on."""


class PastNotKept(ClientError):
    """No node has old blocks, or their operations, any more."""


class WrongCursor(ClientError):
    """A text is no cursor of a stream."""


class UnknownOperation(ClientError):
    """A block has an operation that this release of the client does not know. A newer one has to be installed."""

    def __init__(self, block: int, operation: str) -> None:
        super().__init__(
            f"block {block} has the operation {operation!r}, which this release of ledgerd-client does not know: the "
            f"network has gone on to rules that are newer than it. Install a newer ledgerd-client, and go on after "
            f"the last cursor of the stream"
        )
        self.block = block
        self.operation = operation
