"""The settings of webhooks. Loaded with every configuration, they know operations by their names alone."""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec

from ledgerd.client.address import SECURE_WEB, WEB, NodeAddress
from ledgerd.protocol.types.names import AccountName

MOST_BEHIND = 1_000_000
"""Blocks that wait for a receiver at most, by default: five weeks."""


class WebhookFault(Exception):
    """The text of a webhook is wrong; the message says how."""


class Webhook(msgspec.Struct, frozen=True):
    """One receiver, and what it is sent."""

    url: str
    secret: str
    """The path of the file with the secret that signs."""
    types: tuple[str, ...] = ()
    accounts: tuple[AccountName, ...] = ()
    direction: str = "any"
    reversible: bool = False
    start: int = 0
    """The first block; 0 for the one after the last, when the hook first runs."""

    @property
    def target(self) -> NodeAddress:
        return target_of(self.url)


class WebhookSettings(msgspec.Struct, frozen=True):
    """All webhooks of a node."""

    hooks: tuple[Webhook, ...] = ()
    most_behind: int = MOST_BEHIND


def target_of(url: str) -> NodeAddress:
    """The address of a URL; its path includes the query. `WebhookFault`: nothing can be sent to it."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as fault:
        raise WebhookFault(f"the URL cannot be read: {fault}") from None
    if parts.scheme not in (WEB, SECURE_WEB) or not host:
        raise WebhookFault("the URL must begin with http://HOST or https://HOST")
    if parts.username is not None or parts.fragment or not url.isascii() or not url.isprintable():
        raise WebhookFault("the URL must have no user and no fragment, and only ASCII characters")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return NodeAddress(parts.scheme, host, port, path)
