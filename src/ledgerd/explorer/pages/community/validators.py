"""Validators: who makes the blocks, how well, and what each votes for."""

from __future__ import annotations

from ledgerd.client.envelope import NodeCall
from ledgerd.explorer.pages.view import NotThere, PageAnswer, PageFamily, PageView, Visit, name_in, needed
from ledgerd.explorer.words.language import language
from ledgerd.explorer.words.properties import property_rows

ROUTES = PageFamily()
OF_A_PAGE = 50


@ROUTES.page("/validators")
async def validators(visit: Visit) -> PageAnswer:
    start = name_in(visit.text("from")) if visit.text("from") else ""
    first = visit.number("rank", 100_000) or 1
    rows, count = await visit.ask(
        NodeCall("validator_api", "get_validators_by_counted_vote", (start, OF_A_PAGE + 1)),
        NodeCall("validator_api", "get_validator_count"),
    )
    watch = visit.watch
    more = rows[OF_A_PAGE]["owner"] if len(rows) > OF_A_PAGE else ""
    facts = {
        "rows": rows[:OF_A_PAGE],
        "first": first,
        "count": count,
        "slots": watch.slots(),
        "participation": watch.participation,
        "span": len(watch.blocks),
        "made": {each["owner"]: len(watch.slots_of(each["owner"])) for each in rows},
        "older": visit.link(**{"from": more, "rank": first + OF_A_PAGE}) if more else "",
        "newer": "",
        "newest": visit.link(**{"from": "", "rank": ""}) if start else "",
    }
    return PageView("validators.html", facts)


@ROUTES.page("/validator/(?P<name>[^/]+)")
async def validator(visit: Visit) -> PageAnswer:
    name = name_in(visit.parts["name"])
    (found,) = await visit.node.ask(NodeCall("validator_api", "get_validator_by_account", (name,)))
    record = needed(found)
    if record is None:
        raise NotThere("fault.validator", name)
    watch = visit.watch
    facts = {
        "record": record,
        "name": name,
        "blocks": watch.slots_of(name),
        "span": len(watch.blocks),
        "slots": [each for each in watch.slots() if each.validator == name],
        "voted": property_rows(language(visit.code), record["props"], watch.schedule.get("median_props", {})),
    }
    return PageView("validator.html", facts)
