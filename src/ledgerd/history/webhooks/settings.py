"""The options of webhooks: where operations are sent, and which."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from ledgerd.chain.log.histories import Direction, Wanted
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations import OPERATIONS
from ledgerd.protocol.operations.base import name_of, tag_of

TAGS = {name_of(each): tag_of(each) for each in OPERATIONS}

MOST_BEHIND = 1_000_000
"""Blocks that wait for a receiver at most, by default: five weeks."""

DEFAULT_PORTS = {"http": 80, "https": 443}


class WebhookFault(Exception):
    """What is wrong with the text of a webhook."""


class Target(NamedTuple):
    """Where a URL leads."""

    host: str
    port: int
    is_encrypted: bool
    path: str
    """With the query."""


class Webhook(msgspec.Struct, frozen=True):
    """One receiver, and what it is sent."""

    url: str
    secret: str
    """The path of the file with the secret that signs."""
    types: tuple[str, ...] = ()
    accounts: tuple[AccountName, ...] = ()
    direction: str = Direction.ANY.name.lower()
    reversible: bool = False
    start: int = 0
    """The first block; 0 for the one after the last, when the hook first runs."""

    @property
    def wanted(self) -> Wanted:
        """The filter, as a history takes it."""
        return Wanted(
            tags=frozenset(TAGS[name] for name in self.types) if self.types else None,
            accounts=frozenset(self.accounts),
            direction=Direction[self.direction.upper()],
        )

    @property
    def target(self) -> Target:
        """Where to connect."""
        return target_of(self.url)


class WebhookSettings(msgspec.Struct, frozen=True):
    """All webhooks of a node."""

    hooks: tuple[Webhook, ...] = ()
    most_behind: int = MOST_BEHIND


def target_of(url: str) -> Target:
    """Where a URL leads.

    Raises:
        WebhookFault: It is none that can be sent to.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as fault:
        raise WebhookFault(f"the URL cannot be read: {fault}") from None
    if parts.scheme not in DEFAULT_PORTS or not host:
        raise WebhookFault("the URL begins with http://HOST or https://HOST")
    if parts.username is not None or parts.fragment or not url.isascii() or not url.isprintable():
        raise WebhookFault("the URL has no user, no fragment, and ASCII characters only")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(host, port or DEFAULT_PORTS[parts.scheme], parts.scheme == "https", path)


def read_webhook(text: str) -> Webhook:
    """A webhook as an option gives it: `URL secret=FILE`, and further `name=value` behind it.

    Raises:
        WebhookFault: It cannot be read.
    """
    url, *words = text.split()
    target_of(url)
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in _READERS or name in given or not value:
            raise WebhookFault(f"{word}: behind the URL stand {', '.join(f'{each}=' for each in _READERS)}, each once")
        given[name] = value
    if "secret" not in given:
        raise WebhookFault("secret=FILE is missing: the file with the secret that signs")
    return msgspec.convert({"url": url} | {name: _READERS[name](value) for name, value in given.items()}, Webhook)


def _types(value: str) -> tuple[str, ...]:
    names = tuple(value.split(","))
    unknown = [name for name in names if name not in TAGS]
    if unknown:
        raise WebhookFault(f"types: there is no operation {unknown[0]}")
    return names


def _direction(value: str) -> str:
    if value not in {each.name.lower() for each in Direction}:
        raise WebhookFault("direction: incoming, outgoing or any")
    return value


def _reversible(value: str) -> bool:
    if value not in {"true", "false"}:
        raise WebhookFault("reversible: true or false")
    return value == "true"


def _start(value: str) -> int:
    if not value.isdecimal() or len(value) > 10:
        raise WebhookFault("start: the number of a block")
    return int(value)


_READERS: dict[str, Callable[[str], object]] = {
    "secret": str,
    "types": _types,
    "accounts": lambda value: tuple(value.split(",")),
    "direction": _direction,
    "reversible": _reversible,
    "start": _start,
}
