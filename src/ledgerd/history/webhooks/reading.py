"""Reads a webhook as an option gives it, and what it is sent as a filter of the history."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ledgerd.chain.log.histories import Direction, Wanted
from ledgerd.history.webhooks.settings import Webhook, WebhookFault, target_of
from ledgerd.protocol.operations import OPERATIONS
from ledgerd.protocol.operations.base import name_of, tag_of

TAGS = {name_of(each): tag_of(each) for each in OPERATIONS}


def read_webhook(text: str) -> Webhook:
    """A webhook as an option gives it: `URL secret=FILE`, and further `name=value` after it."""
    url, *words = text.split() or [""]
    target_of(url)
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in _READERS or name in given or not value:
            raise WebhookFault(f"{word}: after the URL stand {', '.join(f'{each}=' for each in _READERS)}, each once")
        given[name] = value
    if "secret" not in given:
        raise WebhookFault("secret=FILE is missing: the file with the secret that signs")
    return msgspec.convert({"url": url} | {name: _READERS[name](value) for name, value in given.items()}, Webhook)


def written_webhook(hook: Webhook) -> str:
    words = [hook.url, f"secret={hook.secret}"]
    words += [f"types={','.join(hook.types)}"] if hook.types else []
    words += [f"accounts={','.join(hook.accounts)}"] if hook.accounts else []
    words += [f"direction={hook.direction}"] if hook.direction != Webhook("", "").direction else []
    words += ["reversible=true"] if hook.reversible else []
    words += [f"start={hook.start}"] if hook.start else []
    return " ".join(words)


def wanted_of(hook: Webhook) -> Wanted:
    return Wanted(
        tags=frozenset(TAGS[name] for name in hook.types) if hook.types else None,
        accounts=frozenset(hook.accounts),
        direction=Direction[hook.direction.upper()],
    )


def _types(value: str) -> tuple[str, ...]:
    names = tuple(value.split(","))
    unknown = [name for name in names if name not in TAGS]
    if unknown:
        raise WebhookFault(f"types: there is no operation {unknown[0]}")
    return names


def _direction(value: str) -> str:
    if value not in {each.name.lower() for each in Direction}:
        raise WebhookFault("direction must be incoming, outgoing or any")
    return value


def _reversible(value: str) -> bool:
    if value not in {"true", "false"}:
        raise WebhookFault("reversible must be true or false")
    return value == "true"


def _start(value: str) -> int:
    if not value.isdecimal() or len(value) > 10:
        raise WebhookFault("start must be the number of a block")
    return int(value)


_READERS: dict[str, Callable[[str], object]] = {
    "secret": str,
    "types": _types,
    "accounts": lambda value: tuple(value.split(",")),
    "direction": _direction,
    "reversible": _reversible,
    "start": _start,
}
