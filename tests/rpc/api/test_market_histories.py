"""Operations of markets and agents in the histories: pages, filters, names (spec 07, section 13)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ledgerd.codec.json.text import Json
from ledgerd.protocol.operations import OPERATIONS
from ledgerd.protocol.operations.base import name_of
from ledgerd.rpc.call.dispatch import Dispatcher
from tests.history.histories import recorded_histories
from tests.recorded import recorded_answers
from tests.rpc.api.recorded_past import asked, history_dispatcher

NAME, HEAD = "open-pm2", 463
FIRST_NEW_TAG = 66

NEW_NAMES: list[Json] = [name_of(kind) for kind in OPERATIONS[FIRST_NEW_TAG:]]
"""The operations of hardforks 14 and 15."""


@pytest.fixture(scope="module")
def dispatcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dispatcher]:
    with history_dispatcher(NAME, tmp_path_factory.mktemp(NAME)) as dispatcher:
        yield dispatcher


def recorded_operations() -> list[dict[str, Any]]:
    answers = recorded_answers(NAME, HEAD)["get_ops_in_block"]
    return [each for number in range(1, HEAD + 1) for each in json.loads(answers[number, False])]


def walked(dispatcher: Dispatcher, method: str, part: str, *arguments: Json) -> list[Any]:
    """All pages of this many, from the oldest on."""
    found: list[Any] = []
    cursor = "oldest"
    while cursor:
        page = json.loads(asked(dispatcher, "history_api", method, [*arguments, cursor, 50]))["result"]
        if not page[part]:
            break
        found += page[part]
        cursor = page.get("newer", "")
    return found


def test_every_new_operation_can_be_looked_for_by_its_name(dispatcher: Dispatcher) -> None:
    assert len(NEW_NAMES) == 40
    operations = recorded_operations()
    met = {each["op"][0] for each in operations} & set(NEW_NAMES)
    assert len(met) > 25
    for name in NEW_NAMES:
        expected = [each for each in operations if each["op"][0] == name]
        assert walked(dispatcher, "get_operations", "operations", {"types": [name]}) == expected, name


def test_pages_of_an_account_hold_its_recorded_operations_of_markets(dispatcher: Dispatcher) -> None:
    histories = [(key[0], answer) for key, answer in recorded_histories(NAME).items() if key[1] == -1 and key[2] > 99]
    looked_at = 0
    for account, answer in histories:
        if '"error"' in answer:
            continue
        entries = json.loads(answer)["result"]
        expected = [entry for entry in entries if entry[1]["op"][0] in NEW_NAMES]
        found = walked(dispatcher, "get_account_operations", "entries", account, {"types": NEW_NAMES})
        assert found[len(found) - len(expected) :] == expected, account
        looked_at += len(expected)
    assert looked_at > 1000


def test_a_position_goes_out_of_one_hand_into_another(dispatcher: Dispatcher) -> None:
    moved = next(each["op"][1] for each in recorded_operations() if each["op"][0] == "pm_transfer_position")
    for account, direction, other in (
        (moved["from"], "outgoing", "incoming"),
        (moved["to"], "incoming", "outgoing"),
    ):
        for wanted, is_there in ((direction, True), (other, False)):
            given: Json = {"types": ["pm_transfer_position"], "direction": wanted}
            found = walked(dispatcher, "get_account_operations", "entries", account, given)
            assert (moved in [entry[1]["op"][1] for entry in found]) == is_there
