"""viz-js-lib with the tables of its newer sources signs each operation of hardforks 14 and 15, and calls methods of
markets.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ledgerd.producer.testnet_start import PUBLISHED_INITIATOR_KEY
from tests.clients.speaking import CLIENTS, development_node, is_left_out, operations_in
from tests.house.source_tree import ROOT
from tests.node.dev.market_life import steps
from tests.patience import PATIENCE

INSTALLED = CLIENTS / "js"
PROGRAM = Path(__file__).with_name("speak_markets.js")
NODE_JS = shutil.which("node")
FACTS = ROOT / "tests" / "vectors" / "hf14"

ARGUMENTS: dict[str, object] = {
    "market_id": 3,
    "status": -1,
    "from": 0,
    "limit": 10,
    "show_risky": True,
    "oracle": "oracle",
    "creator": "alice",
    "account": "bob",
    "owner": "oracle",
    "outcome_index": 0,
    "collateral": 1_000_000,
    "position_id": 1,
    "category": "weather",
    "jurisdiction": "",
    "subcategory": "",
    "tag": "",
    "sort": 0,
}
"""What each parameter gets, by the name that the library has for it."""

ABSENT = {"get_market_lazy_allocation", "get_lazy_deposit", "get_dispute", "get_creator_ban"}
"""Methods that say that what they are asked for is not there."""

pytestmark = pytest.mark.skipif(
    is_left_out("js"), reason="viz-js-lib is not installed: run scripts/clients where there is Node.js"
)


class Speaking:
    """The library in a process: a line for each request and each answer."""

    def __init__(self, process: subprocess.Popen[str], complaints: Path) -> None:
        self._process = process
        self._complaints = complaints

    def ask(self, **request: object) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"it ended at {request}: {self._complaints.read_text()}"
        said: dict[str, Any] = json.loads(line)
        return said


@contextmanager
def speaking(url: str, folder: Path) -> Iterator[Speaking]:
    tables = folder / "tables.json"
    facts = {
        "layouts": "op-layouts.json",
        "properties": "chain-properties.json",
        "methods": "client-methods.json",
    }
    tables.write_text(json.dumps({key: json.loads((FACTS / name).read_text()) for key, name in facts.items()}))
    complaints = folder / "complaints"
    with (
        complaints.open("w") as written,
        subprocess.Popen(  # noqa: S603 - our own program
            [str(NODE_JS), "--no-deprecation", PROGRAM, url, str(tables)],
            env={"HOME": str(folder), "NO_PROXY": "127.0.0.1", "LC_ALL": "C.UTF-8"},
            cwd=INSTALLED,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=written,
            text=True,
        ) as process,
    ):
        try:
            yield Speaking(process, complaints)
            process.communicate(timeout=PATIENCE)
            assert process.returncode == 0
        finally:
            process.kill()


CHANGED = {
    "pm_max_outcomes": 63, "pm_max_market_duration": 31_535_999, "pm_dispute_fee": "999.000 VIZ",
    "pm_leverage_enabled": False, "pm_leverage_funding_rate_ppm_per_day": 101, "pm_early_exit_reward_cap_percent": 3301,
    "pm_min_bet": "0.250 VIZ", "pm_settle_rows_per_block": 2001, "committee_votes_per_request": 99_999,
    "committee_vote_min_vesting": "7.000 VIZ", "pm_dispute_votes_per_market": 99_998,
    "pm_dispute_vote_min_vesting": "8.000 VIZ",
}  # fmt: skip
"""What a validator wants otherwise than the others."""


def test_each_new_operation_that_it_signs_comes_into_a_block_and_its_methods_are_answered(tmp_path: Path) -> None:
    methods = json.loads((FACTS / "client-methods.json").read_text())
    with development_node(tmp_path / "chain") as node:
        first = node.head + 1
        with speaking(f"http://127.0.0.1:{node.port()}", tmp_path) as library:
            sent = []
            for step in steps(node):
                if step.after:
                    node.call("dev_api", "move_time", step.after)
                said = library.ask(operations=[step.operation], key=step.key)
                assert "result" in said, f"{step.operation}: {said}"
                sent.append(step.operation[0])
            absent = set()
            for each in methods:
                said = library.ask(call=[each["method"], *(ARGUMENTS[name] for name in each["params"])])
                if "error" in said:
                    assert "Expected" not in said["error"], said
                    assert "Could not find" not in said["error"], said
                    absent.add(each["method"])

            wanted = node.call("prediction_market_api", "get_pm_chain_properties") | CHANGED
            update = "versioned_chain_properties_update"
            said = library.ask(
                operations=[[update, {"owner": "viz", "props": [5, wanted]}]], key=PUBLISHED_INITIATOR_KEY
            )
            assert "result" in said, said
            sent.append(update)

        [*_, (name, fields)] = node.call("database_api", "get_block", node.head)["transactions"][-1]["operations"]
        assert (name, fields["props"]) == (update, [5, wanted])
        assert operations_in(node, first) == sent
        assert absent <= ABSENT
        assert len(methods) - len(absent) >= 25
