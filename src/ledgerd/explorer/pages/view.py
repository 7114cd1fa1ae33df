"""What a page is made from: a visit with its query, and the view that a handler returns. Nothing here knows a page."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlencode

from ledgerd.client.envelope import ErrorAnswer, NodeCall
from ledgerd.client.pool import NodePool
from ledgerd.explorer.node.watch import ChainWatch

MOST_FIELDS = 16
"""Fields of the query of an address that are read."""
LONGEST_QUERY = 2_000
"""Characters of the query of an address that are read."""
MOST_SKIPPED = 100_000
"""Entries of a list that a page may begin behind."""

CURSOR = re.compile(r"newest|oldest|(?:before|after):[0-9]{1,10}")
NAME = re.compile(r"[a-z0-9.-]{1,32}")


class PageFault(Exception):
    """There is no such page; the text is the key of what is said, the value what was looked for."""

    status = 400

    def __init__(self, key: str, value: object = "") -> None:
        super().__init__(key)
        self.key = key
        self.value = str(value)


class BadQuery(PageFault):
    """The address asks for what cannot be."""


class NotThere(PageFault):
    """The requested thing does not exist."""

    status = 404


class NotKept(PageFault):
    """The node does not have the plugin that keeps this."""

    status = 501


class PageView(NamedTuple):
    """The values that a template is filled with."""

    template: str
    facts: Mapping[str, Any]
    status: int = 200


class Away(NamedTuple):
    """Another address to go to."""

    place: str


class FileDownload(NamedTuple):
    """A file that is sent as it is made."""

    name: str
    lines: AsyncIterator[bytes]


Listed = TypeVar("Listed")
PageAnswer = PageView | Away | FileDownload


@dataclass(frozen=True)
class Visit:
    """One request for a page."""

    node: NodePool
    watch: ChainWatch
    path: str
    parts: Mapping[str, str]
    """The variable parts of the path."""
    query: Mapping[str, str]
    code: str
    """The code of the visitor's language."""
    now: float

    def text(self, name: str, most: int = 200) -> str:
        return self.query.get(name, "").strip()[:most]

    def number(self, name: str, most: int = 0xFFFF_FFFF) -> int | None:
        given = self.text(name)
        return number_in(given, most) if given else None

    def part(self, name: str, most: int = 0xFFFF_FFFF) -> int:
        return number_in(self.parts[name], most)

    def chosen(self, name: str, allowed: Sequence[str]) -> str:
        """A word of the query, of which some are known; the first is that of none."""
        given = self.text(name)
        if given and given not in allowed:
            raise BadQuery("fault.choice", given)
        return given or allowed[0]

    def cursor(self) -> str:
        given = self.text("cursor") or "newest"
        if not CURSOR.fullmatch(given):
            raise BadQuery("fault.cursor", given)
        return given

    def link(self, **changed: object) -> str:
        """This page with another query; an empty value leaves a field out."""
        fields = {**self.query, **{name: str(value) for name, value in changed.items()}}
        given = urlencode([(name, value) for name, value in fields.items() if value])
        return f"{self.path}?{given}" if given else self.path

    def beside(self, name: str, rows: Sequence[object], limit: int) -> tuple[str, str]:
        """The addresses of what stands behind and before the rows of a list that a field of the query skips to."""
        skipped = self.number(name, MOST_SKIPPED) or 0
        older = self.link(**{name: skipped + limit}) if len(rows) == limit else ""
        return older, self.link(**{name: max(0, skipped - limit) or ""}) if skipped else ""

    def part_of(self, name: str, rows: Sequence[Listed], limit: int) -> tuple[Sequence[Listed], tuple[str, str]]:
        """The part of a list, given whole, to which a field of the query skips; the addresses behind and before it."""
        skipped = self.number(name, MOST_SKIPPED) or 0
        older = self.link(**{name: skipped + limit}) if skipped + limit < len(rows) else ""
        newer = self.link(**{name: max(0, skipped - limit) or ""}) if skipped else ""
        return rows[skipped : skipped + limit], (older, newer)

    async def ask(self, *calls: NodeCall) -> list[Any]:
        return [needed(each) for each in await self.node.ask(*calls)]

    async def one(self, api: str, method: str, *arguments: object) -> Any:  # noqa: ANN401 - JSON
        return (await self.ask(NodeCall(api, method, arguments)))[0]


def needed(answer: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(answer, ErrorAnswer):
        if answer.is_missing:
            raise NotKept("fault.plugin")
        raise BadQuery("fault.refused", answer.message.splitlines()[-1] if answer.message else "")
    return answer


def optional(answer: Any) -> Any:  # noqa: ANN401 - JSON
    """A result; nothing if the node says that there is none."""
    return None if isinstance(answer, ErrorAnswer) else answer


def number_in(text: str, most: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 19) or int(text) > most:
        raise BadQuery("fault.number", text)
    return int(text)


def name_in(text: str) -> str:
    if not NAME.fullmatch(text):
        raise BadQuery("fault.name", text)
    return text


def fields_of(query: str) -> dict[str, str]:
    found: dict[str, str] = {}
    try:
        pairs = parse_qsl(query[:LONGEST_QUERY], max_num_fields=MOST_FIELDS, errors="replace")
    except ValueError:
        raise BadQuery("fault.query") from None
    for name, value in pairs:
        found.setdefault(name, value)
    return found


PageHandler = Callable[[Visit], Awaitable[PageAnswer]]
Route = tuple[re.Pattern[str], PageHandler]


class PageFamily:
    """The pages of one family."""

    def __init__(self) -> None:
        self.all: list[Route] = []

    def page(self, pattern: str) -> Callable[[PageHandler], PageHandler]:

        def declare(handler: PageHandler) -> PageHandler:
            self.all.append((re.compile(pattern), handler))
            return handler

        return declare
