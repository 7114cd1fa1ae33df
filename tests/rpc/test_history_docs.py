"""Every request in `docs/history.md` gets the answers that stand below it there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from ledgerd.rpc.call.dispatch import Dispatcher, Later
from tests.rpc.api.recorded_past import history_dispatcher
from tests.rpc.loopback import play

DOCUMENT = Path(__file__).parents[2] / "docs" / "history.md"
EXCHANGES = [block.splitlines() for block in re.findall(r"```json\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)]
NAME = "0123456789abcdef"


@pytest.fixture(scope="module")
def dispatcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dispatcher]:
    with history_dispatcher("open-2", tmp_path_factory.mktemp("open-2")) as dispatcher:
        yield dispatcher


@pytest.mark.parametrize("exchange", EXCHANGES, ids=lambda exchange: str(json.loads(exchange[0])["id"]))
def test_a_request_gets_the_answers_below_it(
    dispatcher: Dispatcher, exchange: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.rpc.api.history.stream.secrets.token_hex", lambda _: NAME)
    request, *expected = exchange
    assert expected
    answered = dispatcher.answer(request.encode())
    if isinstance(answered, Later):
        assert play(lambda: first_of(answered, len(expected))) == expected
    else:
        assert [answered.decode()] == expected


async def first_of(later: Later, count: int) -> list[str]:
    found: list[str] = []
    async with aclosing(later.answers) as answers:
        async for make in answers:
            found.append(make().decode())
            if len(found) == count:
                break
    return found


def test_every_method_is_shown() -> None:
    shown = {str(json.loads(request)["method"]) for request, *_ in EXCHANGES}
    assert shown >= {
        "account_history.get_account_history",
        "operation_history.get_transaction",
        "history_api.get_account_operations",
        "history_api.get_operations",
        "history_api.subscribe",
        "history_api.unsubscribe",
    }
