"""Why a stream can't go on."""

from __future__ import annotations

from ledgerd.sdk.errors import ClientError


class ForkTooDeep(ClientError):
    """What the stream has given is not in the chain any more, and it does not know from where on."""


class PastNotKept(ClientError):
    """No node has old blocks, or their operations, any more."""


class WrongCursor(ClientError):
    """A text is no cursor of a stream."""
