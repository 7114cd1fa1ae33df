"""What a request is answered with: a page, a redirect, a file, or a clear page that says why not. Pages are kept until
the next block. Nothing here reads or writes a connection.
"""

from __future__ import annotations

import logging
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from ledgerd.client.envelope import ErrorAnswer
from ledgerd.client.pool import NodeAway, NodePool
from ledgerd.explorer.node.watch import ChainWatch
from ledgerd.explorer.pages.betting import markets
from ledgerd.explorer.pages.community import agreements, validators
from ledgerd.explorer.pages.drawing import PREFIX, asset_path, assets, draw
from ledgerd.explorer.pages.ledger import blocks, front, search
from ledgerd.explorer.pages.ledger.front import facts_of
from ledgerd.explorer.pages.people import accounts
from ledgerd.explorer.pages.view import (
    Away,
    FileDownload,
    PageAnswer,
    PageFault,
    PageHandler,
    PageView,
    Route,
    Visit,
    fields_of,
)
from ledgerd.explorer.words.language import CODES, language, preferred

log = logging.getLogger(__name__)

HTML = "text/html; charset=utf-8"
KEPT_BYTES = 32 << 20
"""The most bytes of replies, with the addresses that they are kept by, until the next block."""
KEPT_BESIDE = 1_024
"""Bytes that a kept reply counts for besides its body and address, so that empty ones are bounded too."""
LATE_SECONDS = 30
"""Seconds: if the head is older, pages say that the chain or the node stands still."""
THEMES = ("auto", "light", "dark")
ICON = "/favicon.ico"
"""The path that browsers ask for by themselves."""
AUTO = b'data-theme="auto"'
YEAR = 31_536_000
LOCAL = re.compile(r"/(?![/\\])[^\\\x00-\x20]{0,1000}")
"""A path of this site, and nothing that a browser takes for another one."""
MENU = (
    ("menu.blocks", "/blocks"), ("menu.accounts", "/accounts"), ("menu.validators", "/validators"),
    ("menu.committee", "/committee"), ("menu.proposals", "/proposals"), ("menu.invites", "/invites"),
    ("menu.subscriptions", "/subscriptions"), ("menu.markets", "/markets"),
)  # fmt: skip
SECTIONS = {
    "block": "/blocks", "tx": "/blocks", "account": "/accounts", "key": "/accounts", "validator": "/validators",
    "proposal": "/proposals", "invite": "/invites", "subscription": "/subscriptions", "market": "/markets",
    "disputes": "/markets", "oracles": "/markets",
}  # fmt: skip
LIVE = {
    "live-figures": "figures.html", "live-round": "round.html", "live-blocks": "newest_blocks.html",
    "live-transfers": "newest_transfers.html",
}  # fmt: skip
"""The parts of the first page that change with a block."""


ROUTES: tuple[Route, ...] = tuple(
    route
    for family in (front, blocks, search, accounts, validators, agreements, markets)
    for route in family.ROUTES.all
)


def page_of(path: str) -> tuple[PageHandler, Mapping[str, str]] | None:
    for pattern, handler in ROUTES:
        match = pattern.fullmatch(path)
        if match:
            return handler, match.groupdict()
    return None


class PageRequest(NamedTuple):
    """A request for a page."""

    path: str
    query: str
    cookies: Mapping[str, str]
    languages: str
    """The browser's preferred languages."""


@dataclass
class PageReply:
    """The reply that is sent."""

    status: int
    body: bytes = b""
    form: str = HTML
    headers: Mapping[str, str] | None = None
    lines: AsyncIterator[bytes] | None = None
    """A body that is made while it is sent."""


class PageMaker:
    """The pages of one explorer."""

    def __init__(self, node: NodePool, watch: ChainWatch, clock: Callable[[], float]) -> None:
        self._node = node
        self._watch = watch
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str, str], PageReply] = OrderedDict()
        self.kept_bytes = 0
        """The bytes of pages that are kept until the next block."""
        self.drawn = 0
        """Pages that were made, and not taken from memory."""
        watch.on_change.append(self._forget)

    def _forget(self) -> None:
        self._kept.clear()
        self.kept_bytes = 0

    async def answer(self, asked: PageRequest) -> PageReply:
        if asked.path.startswith(PREFIX) or asked.path == ICON:
            return self._asset(asked)
        code = asked.cookies.get("lang", "")
        code = code if code in CODES else preferred(asked.languages)
        if asked.path == "/choose":
            return self._choose(asked, code)
        key = (asked.path, asked.query, code)
        reply = self._kept.get(key)
        if reply is None:
            reply = await self._made(asked, code)
            self._keep(key, reply)
        theme = asked.cookies.get("theme", "")
        if theme not in THEMES[1:] or reply.form != HTML:
            return reply
        body = reply.body.replace(AUTO, b'data-theme="%b"' % theme.encode(), 1)
        return PageReply(reply.status, body, reply.form, reply.headers)

    def _keep(self, key: tuple[str, str, str], reply: PageReply) -> None:
        if reply.lines is not None or reply.status >= 500 or len(reply.body) > KEPT_BYTES // 8:
            return
        if key not in self._kept:
            self._kept[key] = reply
            self.kept_bytes += _size(key, reply)
        while self.kept_bytes > KEPT_BYTES:
            oldest = self._kept.popitem(last=False)
            self.kept_bytes -= _size(*oldest)

    def _asset(self, asked: PageRequest) -> PageReply:
        asset = assets().get(asset_path("icon.svg") if asked.path == ICON else asked.path)
        if asset is None:
            return self._fault(asked, CODES[0], 404, "fault.page", asked.path)
        return PageReply(200, asset.body, asset.form, {"Cache-Control": f"public, max-age={YEAR}, immutable"})

    def _choose(self, asked: PageRequest, code: str) -> PageReply:
        try:
            given = fields_of(asked.query)
        except PageFault as fault:
            return self._fault(asked, code, fault.status, fault.key, fault.value)
        back = given.get("back", "/")
        headers = {"Location": back if LOCAL.fullmatch(back) else "/"}
        chosen = given.get("theme", "")
        if chosen == "other":
            chosen = {"dark": "light", "light": "dark"}.get(asked.cookies.get("theme", ""), "dark")
        if given.get("lang") in CODES:
            headers["Set-Cookie"] = f"lang={given['lang']}; Path=/; Max-Age={YEAR}; SameSite=Lax"
        elif chosen in THEMES:
            headers["Set-Cookie"] = f"theme={chosen}; Path=/; Max-Age={YEAR}; SameSite=Lax"
        return PageReply(303, b"", HTML, headers)

    async def _made(self, asked: PageRequest, code: str) -> PageReply:
        path = unquote(asked.path, errors="replace")
        try:
            found = page_of(path)
            if found is None:
                return self._fault(asked, code, 404, "fault.page", path)
            if not self._watch.properties:
                return self._fault(asked, code, 503, "away.title")
            handler, parts = found
            visit = Visit(self._node, self._watch, asked.path, parts, fields_of(asked.query), code, self._clock())
            return self._reply(asked, code, await handler(visit))
        except PageFault as fault:
            return self._fault(asked, code, fault.status, fault.key, fault.value)
        except (NodeAway, ErrorAnswer):
            return self._fault(asked, code, 503, "away.title")
        except Exception:
            # Whatever a strange answer of the node does to one page, the visitor is told so, and others see theirs.
            log.exception("the page %(path)s cannot be made", {"path": path[:200]})
            return self._fault(asked, code, 500, "fault.inside")

    def _reply(self, asked: PageRequest, code: str, answer: PageAnswer) -> PageReply:
        if isinstance(answer, Away):
            return PageReply(303, b"", HTML, {"Location": answer.place})
        if isinstance(answer, FileDownload):
            named = {"Content-Disposition": f'attachment; filename="{answer.name}"'}
            return PageReply(200, b"", "text/csv; charset=utf-8", named, answer.lines)
        return self._page(asked, code, answer)

    def _page(self, asked: PageRequest, code: str, view: PageView) -> PageReply:
        self.drawn += 1
        text = draw(view.template, code, {**self._around(asked, code), **view.facts}, self._clock())
        return PageReply(view.status, text.encode("utf-8", "replace"))

    def _fault(self, asked: PageRequest, code: str, status: int, key: str, value: object = "") -> PageReply:
        facts = {"status": status, "said": language(code).text(key), "value": value}
        reply = self._page(asked, code, PageView("fault.html", facts, status))
        reply.headers = {"Retry-After": "2"} if status == 503 else None
        return reply

    def _around(self, asked: PageRequest, code: str) -> dict[str, Any]:
        watch, spoken = self._watch, language(code)
        first = asked.path.split("/")[1] if "/" in asked.path else ""
        menu = _menu(code) if watch.has_markets or not watch.hardfork else _menu(code)[:-1]
        hardfork = spoken.text("footer.node", hardfork=watch.hardfork) if watch.hardfork else ""
        return {
            "chain_name": str(watch.config.get("CHAIN_NAME", "VIZ")),
            "menu": menu,
            "section": SECTIONS.get(first, f"/{first}"),
            "is_front": asked.path == "/",
            "back": quote(f"{asked.path}?{asked.query}" if asked.query else asked.path, "/"),
            "away": bool(watch.away),
            "is_late": bool(watch.away) or self._clock() - watch.head_seconds > LATE_SECONDS,
            "head": watch.head,
            "head_time": str(watch.properties.get("time", "")),
            "node_words": hardfork,
            "first_block": int(watch.properties.get("earliest_available_block_num") or 1),
            "has_markets": watch.has_markets,
        }

    def live_parts(self, code: str, *, is_front: bool) -> dict[str, str]:
        """The parts of an open page that change with a block, by the ids of their elements."""
        watch, now = self._watch, self._clock()
        head = {"head": watch.head, "head_time": str(watch.properties["time"])}
        parts = {"pulse": draw("pulse.html", code, head, now)}
        if is_front:
            facts = facts_of(watch)
            parts |= {place: draw(template, code, facts, now) for place, template in LIVE.items()}
        return parts


@cache
def _menu(code: str) -> tuple[tuple[str, str], ...]:
    return tuple((language(code).text(key), place) for key, place in MENU)


def _size(key: tuple[str, str, str], reply: PageReply) -> int:
    return KEPT_BESIDE + sum(map(len, key)) + len(reply.body)
