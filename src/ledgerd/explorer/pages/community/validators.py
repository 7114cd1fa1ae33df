"""Validators: who makes the blocks, how well, and what each votes for."""

from __future__ import annotations

from ledgerd.client.envelope import Call
from ledgerd.explorer.pages.view import Answer, NotThere, Routes, View, Visit, name_in, needed

ROUTES = Routes()
OF_A_PAGE = 50


@ROUTES.page("/validators")
async def validators(visit: Visit) -> Answer:
    """Validators by their votes, the most first."""
    start = name_in(visit.text("from")) if visit.text("from") else ""
    first = visit.number("rank", 100_000) or 1
    rows, count = await visit.ask(
        Call("validator_api", "get_validators_by_counted_vote", (start, OF_A_PAGE + 1)),
        Call("validator_api", "get_validator_count"),
    )
    chain = visit.chain
    more = rows[OF_A_PAGE]["owner"] if len(rows) > OF_A_PAGE else ""
    facts = {
        "rows": rows[:OF_A_PAGE],
        "first": first,
        "count": count,
        "slots": chain.slots(),
        "participation": chain.participation,
        "span": len(chain.blocks),
        "made": {each["owner"]: len(chain.slots_of(each["owner"])) for each in rows},
        "older": visit.link(**{"from": more, "rank": first + OF_A_PAGE}) if more else "",
        "newer": "",
        "newest": visit.link(**{"from": "", "rank": ""}) if start else "",
    }
    return View("validators.html", facts)


@ROUTES.page("/validator/(?P<name>[^/]+)")
async def validator(visit: Visit) -> Answer:
    """One validator: its votes, its slots, and the properties it votes for."""
    name = name_in(visit.parts["name"])
    (found,) = await visit.node.ask(Call("validator_api", "get_validator_by_account", (name,)))
    record = needed(found)
    if record is None:
        raise NotThere("fault.validator", name)
    chain = visit.chain
    median = chain.schedule.get("median_props", {})
    facts = {
        "record": record,
        "name": name,
        "blocks": chain.slots_of(name),
        "span": len(chain.blocks),
        "slots": [each for each in chain.slots() if each.validator == name],
        "voted": [(key, value, median.get(key)) for key, value in record["props"].items()],
    }
    return View("validator.html", facts)
