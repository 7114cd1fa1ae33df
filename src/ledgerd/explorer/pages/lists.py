"""Lists that are longer than a page: what a visit asks for of them, and the addresses of what is beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ledgerd.client.envelope import ErrorAnswer, NodeCall
from ledgerd.explorer.pages.view import NotThere, Visit, needed

OF_A_PAGE = 25


def existing(answer: Any, fault: str, value: object) -> Any:  # noqa: ANN401 - JSON
    if answer is None or (isinstance(answer, ErrorAnswer) and not answer.is_missing):
        raise NotThere(fault, value)
    return needed(answer)


def beside(visit: Visit, name: str, start: int, limit: int, *, has_more: bool) -> dict[str, str]:
    return {
        "older": visit.link(**{name: start + limit}) if has_more else "",
        "newer": visit.link(**{name: max(0, start - limit) or ""}) if start else "",
    }


async def operations_of(visit: Visit, types: Sequence[str]) -> dict[str, Any]:
    cursor = visit.cursor()
    (page,) = await visit.ask(NodeCall("history_api", "get_operations", ({"types": types}, cursor, OF_A_PAGE)))
    return {"rows": list(reversed(page["operations"])), **links_of(visit, page, page["operations"])}


def links_of(visit: Visit, page: dict[str, Any], entries: Sequence[Any]) -> dict[str, str]:
    is_newest = visit.cursor() == "newest"
    return {
        "older": visit.link(cursor=page["older"]) if page.get("older") else "",
        "newer": "" if is_newest or not entries else visit.link(cursor=page["newer"]),
        "newest": "" if is_newest else visit.link(cursor=""),
    }


async def of_status(
    visit: Visit,
    statuses: Sequence[str],
    list_call: Callable[[int], NodeCall],
    call: Callable[[int], NodeCall],
    most: int = 0xFFFF_FFFF,
) -> dict[str, Any]:
    """Objects of a status, the newest first, and how many there are of each; `most` is the largest number of one."""
    status, before = visit.chosen("status", statuses), visit.number("before", most)
    lists = await visit.ask(*map(list_call, range(len(statuses))))
    numbers = sorted(lists[statuses.index(status)], reverse=True)
    below = [each for each in numbers if before is None or each < before]
    return {
        "rows": await visit.ask(*map(call, below[:OF_A_PAGE])),
        "status": status,
        "statuses": [(name, len(found)) for name, found in zip(statuses, lists, strict=True)],
        "older": visit.link(before=below[OF_A_PAGE - 1]) if len(below) > OF_A_PAGE else "",
        "newer": "",
        "newest": visit.link(before="") if before is not None else "",
    }
