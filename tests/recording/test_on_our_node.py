"""All scenarios on a development chain of ours, interrupted on the way; what they write is what the kit reads."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgerd.cli.main import main
from ledgerd.client.asked import AskedNode
from ledgerd.conformance.command import main as kit
from ledgerd.conformance.report import CONFORMS
from ledgerd.producer.testnet_start import PUBLISHED_INITIATOR_KEY
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.recording.recording import Recording, chosen_acts, scenarios
from tests.node.processes import NodeProcess

INITIATOR = ("viz", PrivateKey.from_wif(PUBLISHED_INITIATOR_KEY))
INTERRUPTED_AFTER = "committee-upholds: recorded"
RESTING = {4}
"""`payout_status` of a market while its refund goes on."""


def read(path: Path) -> str:
    return lzma.decompress(path.read_bytes()).decode()


class Recorded:
    """What a recording has written, and the lines that it said."""

    def __init__(self, folder: Path, url: str, said: list[str]) -> None:
        self.folder = folder
        self.url = url
        self.said = said
        self.facts = [
            (int(path.name.partition(".")[0].removeprefix("api-")), *self._fact(line))
            for path in sorted(folder.glob("api-*.jsonl.xz"))
            for line in read(path).splitlines()
        ]
        (self.answers,) = folder.glob("answers-*.jsonl.xz")

    @staticmethod
    def _fact(line: str) -> tuple[str, list[Any], Any]:
        fact = json.loads(line)
        _, method, arguments = fact["request"]["params"]
        return method, arguments, json.loads(fact["answer"]).get("result")

    def results(self, method: str) -> list[Any]:
        return [result for _, each, _, result in self.facts if each == method]

    def operations(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for line in read(self.answers).splitlines():
            fact = json.loads(line)
            if fact["request"]["params"][1] == "get_ops_in_block":
                for each in json.loads(fact["answer"])["result"]:
                    yield each["op"][0], each["op"][1]


class Stopped(Exception):
    """Somebody has pressed Ctrl+C."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    place = tmp_path_factory.mktemp("recorded")
    folder, said = place / "chains" / "new", list[str]()

    def say(line: str) -> None:
        said.append(line)
        if line == INTERRUPTED_AFTER and said.count(line) == 1:
            raise Stopped

    def record(url: str) -> None:
        node = AskedNode(url)
        try:
            Recording(node, folder, INITIATOR).run(chosen_acts([]), lambda _seconds: None, say)
        finally:
            node.close()

    chain = str(tmp_path_factory.mktemp("chain"))
    with NodeProcess("dev", "--data-dir", chain, "--http=127.0.0.1:0", "--ws=127.0.0.1:0", "--block-time=0") as process:
        url = f"http://127.0.0.1:{process.port()}"
        with pytest.raises(Stopped):
            record(url)
        journal = folder / "journal.jsonl"
        journal.write_bytes(journal.read_bytes() + b'{"scenario": "answer-mis')
        record(url)
        yield Recorded(folder, url, said)


def test_every_scenario_is_recorded_and_none_of_its_transactions_twice(recorded: Recorded) -> None:
    sent = json.loads(read(recorded.folder / "sent.json.xz"))["sent"]

    assert {f"{name}: recorded" for name in scenarios()} <= set(recorded.said)
    assert {each["scenario"] for each in sent} >= scenarios().keys()
    assert max(Counter(each["id"] for each in sent).values()) == 1
    assert max(Counter(json.dumps(each["ops"]) for each in sent).values()) == 1


def test_the_facts_show_what_none_showed_before(recorded: Recorded) -> None:
    happened = list(recorded.operations())
    penalties = {
        name: [fields["oracle_penalty"] for each, fields in happened if each == name]
        for name, _ in happened
        if name in {"pm_dispute_finalize", "pm_dispute_auto_close"}
    }
    resting = Counter(market["id"] for market in recorded.results("get_market") if market["payout_status"] in RESTING)

    assert sorted(penalties["pm_dispute_finalize"]) == ["0.000 VIZ", "2966.700 VIZ"]
    assert penalties["pm_dispute_auto_close"] == ["300.000 VIZ", "300.000 VIZ"]
    assert [fields["slashed"] for name, fields in happened if name == "pm_oracle_missed_penalty"] == ["300.000 VIZ"]
    assert Counter(name for name, _ in happened)["pm_commit_forfeit"] == 1
    assert sorted(resting.values()) == [2, 2]
    assert [[agent["agent_name"] for agent in agents] for agents in recorded.results("get_agent_permissions")] == [
        ["award-bot"],
        ["award-bot", "transfer-bot"],
        ["transfer-bot"],
        [],
    ]
    assert {each["role"] for former in recorded.results("get_key_history") for each in former} == {"regular", "active"}


def test_the_kit_reads_the_recording_and_the_node_that_made_it_conforms(
    recorded: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = ["--vectors", str(recorded.folder.parents[1])]

    assert kit([*vectors, "node", recorded.url]) == CONFORMS
    told = capsys.readouterr()
    assert "of new\n" in told.err
    assert "fail" not in told.out
    assert kit([*vectors, "questions"]) == CONFORMS
    assert capsys.readouterr().out.count('"function": "block_id"') > 50


def test_the_plan_is_said_without_a_node(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["record", "http://127.0.0.1:1", str(tmp_path / "none"), "--plan", "--only", "agents-and-keys"]) == 0

    out = capsys.readouterr().out
    assert "votes, agents-and-keys: the JSON of agents and of the history of keys (about 1 min)\n" in out
    assert "all together about 2 min at a block each three seconds\n" in out
    assert not (tmp_path / "none").exists()
