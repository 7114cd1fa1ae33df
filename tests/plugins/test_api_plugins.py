"""API plugins in a real node: they answer within bounds, and what they do wrong costs no other client."""

from __future__ import annotations

import http.client
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.node.processes import NodeProcess
from tests.node.test_history import dev_words
from tests.node.test_history_feed import ready, wait_until
from tests.patience import PATIENCE
from tests.plugins.distributions import made_distribution

RATES = '''
"""An API plugin that does what it should, and one of everything that it should not."""
import ctypes, os, time
import msgspec
from ledgerd.plugins import ApiPlugin, ObserverPlugin, PluginError, PluginObserver, ReadView

print("what a plugin prints is no report")
rates = ApiPlugin("Rates, for a test.", api_version="1.0", seconds=2)

watching = ObserverPlugin("Watches.", PluginObserver, api_version="1.0")


class Rate(msgspec.Struct):
    name: str
    balance: int


@rates.method
def of(view: ReadView, names: list[str], least: int = 0) -> list[Rate]:
    """What accounts have.

    Of more than some balance.
    """
    found = [view.account(name) for name in names]
    return [Rate(each["name"], each["id"]) for each in found if each is not None and each["id"] >= least]


@rates.method
def heads(view: ReadView) -> dict[str, int]:
    """The head by each of its ways."""
    asked = view.call("database_api", "get_dynamic_global_properties")
    rows = list(view.rows("account", after=1))
    return {"view": view.head_number, "api": asked["head_block_number"], "row": view.properties()["head_block_number"],
            "rows": rows[0]["id"], "none": len(list(view.rows("account", after=1 << 70)))}


@rates.method
def refuse(view: ReadView) -> int:
    raise PluginError(-32050, "not on Sundays")


@rates.method
def refuse_oddly(view: ReadView) -> int:
    raise PluginError(-32050, "half \\ud83d, 5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3")


@rates.method
def ask_wrongly(view: ReadView) -> object:
    return view.call("database_api", "get_accounts")


@rates.method
def fail(view: ReadView) -> int:
    raise ValueError("5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3")


@rates.method
def never(view: ReadView) -> int:
    while True:
        try:
            while True:
                pass
        except Exception:
            pass


@rates.method
def giant(view: ReadView) -> str:
    return "x" * (17 << 20)


@rates.method
def hungry(view: ReadView) -> int:
    return len(bytearray(1 << 40))


@rates.method
def end(view: ReadView) -> int:
    os._exit(3)
'''


OUTCOMES = ("ok", "refused", "failed")


def page(node: NodeProcess, path: str, port: int = 0) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port or node.port(), timeout=PATIENCE)
    try:
        connection.request("GET", path)
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def numbers(node: NodeProcess) -> dict[str, float]:
    """What its `/metrics` has, by series."""
    found = re.search(r"operator +http://127\.0\.0\.1:(\d+)", node.log)
    assert found is not None
    lines = page(node, "/metrics", int(found[1])).splitlines()
    return {series: float(number) for series, _, number in (each.rpartition(" ") for each in lines if each[0] != "#")}


def require_counted(node: NodeProcess) -> None:
    """Calls of the plugin stand in the metrics by what became of them: some failed, more were refused."""
    wait_until(lambda: numbers(node)['ledgerd_plugin_starts_total{plugin="rates"}'] == 2)
    counted = numbers(node)
    outcomes = [counted[f'ledgerd_rpc_requests_total{{method="rates.*",outcome="{each}"}}'] for each in OUTCOMES]
    assert outcomes[1] >= 7
    assert outcomes[2] >= 4, "fail, never, hungry and end"
    assert counted['ledgerd_rpc_request_seconds_count{method="rates.*"}'] == sum(outcomes)


def described(node: NodeProcess) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page(node, "/openrpc.json"))
    return found


@pytest.fixture
def rates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """The words that start a development chain with the plugin."""
    monkeypatch.setenv("PYTHONPATH", str(made_distribution(tmp_path / "site", "rates", RATES, "rates", "watching")))
    return *dev_words(tmp_path / "data"), "--plugin=rates"


def test_an_enabled_api_answers_is_described_and_costs_no_other_client_what_it_does_wrong(
    rates: tuple[str, ...],
) -> None:
    with NodeProcess(*rates) as node:
        node.wait_for("the plugin rates works")

        names = ["alice", "nobody-there", "viz"]
        found = wait_until(lambda: [each for each in [node.call("rates", "of", names)] if isinstance(each, list)])[0]
        assert [each["name"] for each in found] == ["alice", "viz"], found
        assert node.call("rates", "of", names, 1 << 40) == []
        node.call("dev_api", "mine_blocks", 2)
        heads = node.call("rates", "heads")
        assert heads["view"] == heads["api"] == heads["row"] == node.head
        assert (heads["rows"], heads["none"]) == (2, 0)

        document = described(node)
        (method,) = (each for each in document["methods"] if each["name"] == "rates.of")
        assert [each["name"] for each in method["params"]] == ["names", "least"]
        assert method["result"]["schema"]["items"] == {"$ref": "#/components/schemas/rates.Rate"}
        assert "rates.Rate" in document["components"]["schemas"]
        assert "Rates, for a test." in page(node, "/")

        assert node.call("rates", "refuse") == {"code": -32050, "message": "not on Sundays"}
        assert node.call("rates", "refuse_oddly") == {"code": -32050, "message": "half ?, (a private key)"}
        assert "params[0], names: Expected `array`" in node.call("rates", "of", 5)["message"]
        assert node.call("rates", "of", [], 1, 2)["message"] == "3 arguments, and 2 are the most"
        assert node.call("rates", "of")["message"] == "params[0], names, is missing"
        assert node.call("rates", "ask_wrongly")["message"] == node.call("database_api", "get_accounts")["message"]
        assert "Internal error" in node.call("rates", "fail")["message"]
        assert node.call("rates", "never")["message"] == "rates.never took more than 2 s"
        assert "webserver-max-answer-size" in node.call("rates", "giant")["message"]
        assert "Internal error" in node.call("rates", "hungry")["message"]
        assert "Could not find method none" in node.call("rates", "none")["message"]
        assert "5KQwrPbwdL6" not in node.log
        assert "fail has failed: ValueError: (a private key)" in node.log

        worker_starts = node.log.count("API worker")
        assert "is not there now" in node.call("rates", "end")["message"]
        node.wait_for("the plugin rates is down: its process has ended with code 3, next start in 1 s")
        node.wait_for("the plugin rates works", 2)
        wait_until(lambda: node.call("rates", "of", ["alice"]) == found[:1])
        assert ready(node)["ready"] is True
        assert "warning" not in ready(node)
        assert node.log.count("API worker") == worker_starts
        require_counted(node)
        beside = ("api", "--data-dir", rates[2], "--http=127.0.0.1:0", "--plugin", "database_api rates watching")
        with NodeProcess(*beside) as api:
            wait_until(lambda: api.call("rates", "of", names) == found)
            head = node.call("dev_api", "mine_blocks", 2)["head_block_number"]
            assert api.call("rates", "heads")["api"] == head
            api.wait_for("the plugin watching rests: it is an observer, which runs beside a node")
            assert "warning" not in ready(api)
            assert api.stop() == 0
        assert node.stop() == 0
