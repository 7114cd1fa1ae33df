"""Templates show what is written on the chain, and let none of it hide, turn the direction of writing or be obeyed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import Any

import pytest

from ledgerd.basics.printable import is_shown
from ledgerd.client.envelope import NodeCall
from tests.explorer.recorded_node import RecordedExplorer, recorded_explorer

WRITTEN = frozenset((
    "agent_name", "body", "category", "decision_reason", "decision_url", "description", "json", "json_metadata", "memo",
    "metadata", "name", "oracle_response", "outcomes", "reason", "response", "rules_url", "tags", "title", "url",
))  # fmt: skip
"""Fields in which a stranger writes what they like."""
HIDDEN = "\u202e\x1b[31m\x9b\u061c\u2800\u3164"
LINK = re.compile(r'href="(/[^"]*)"')
MOST_OF_A_KIND = 3


def with_hidden_signs(value: Any, is_written: bool = False) -> Any:
    """An answer of the node in which every such text has them."""
    if isinstance(value, dict):
        return {name: with_hidden_signs(each, is_written or name in WRITTEN) for name, each in value.items()}
    if isinstance(value, list):
        return [with_hidden_signs(each, is_written) for each in value]
    return f"{value}{HIDDEN}" if is_written and isinstance(value, str) else value


@pytest.fixture(scope="module", params=["open-1", "open-pm2"])
def explorer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedExplorer]:
    with recorded_explorer(request.param, tmp_path_factory.mktemp(request.param)) as explorer:
        yield explorer


def pages_from(explorer: RecordedExplorer, beginning: Sequence[str]) -> Iterator[tuple[str, str]]:
    """These pages and some of each kind that they lead to."""
    waiting, seen = list(beginning), dict[str, int]()
    while waiting:
        address = waiting.pop(0)
        body = explorer.reply(address).body.decode()
        yield address, body
        for found in map(unescape, LINK.findall(body)):
            path = found.partition("?")[0].split("/")
            kind = "/".join((path[1], *path[3:])) if path[1] != "proposal" else "proposal"
            if found not in waiting and seen.setdefault(kind, 0) < MOST_OF_A_KIND:
                seen[kind] += 1
                waiting.append(found)


def test_no_page_has_a_sign_that_is_not_seen(explorer: RecordedExplorer, monkeypatch: pytest.MonkeyPatch) -> None:
    one, kinds = explorer.node._one, set[str]()  # noqa: SLF001 - every answer goes through it

    def spoiled(call: NodeCall) -> Any:
        found = one(call)
        return found if call.method.startswith("lookup") else with_hidden_signs(found)

    monkeypatch.setattr(explorer.node, "_one", spoiled)
    for address, body in pages_from(explorer, ["/", "/proposals", "/markets", "/disputes", "/oracles", "/accounts"]):
        assert not {each for each in HIDDEN if not is_shown(each)} & set(body), address
        kinds |= {address.partition("?")[0].split("/")[1]} if "\ufffd" in body else set()
    assert {"tx", "account"} <= kinds, "texts of operations are there"
    assert {"proposals", "market"} & kinds


@pytest.mark.parametrize("address", ["/%E2%80%AE%1B", "/account/%D8%9C", "/search?q=%E2%A0%80%1B", "/block/%E2%80%AE"])
def test_no_address_shows_a_sign_that_is_not_seen(explorer: RecordedExplorer, address: str) -> None:
    body = explorer.reply(address).body.decode()
    assert "\ufffd" in body
    assert not {each for each in body if not (is_shown(each) or each in "\n\u202f")}
