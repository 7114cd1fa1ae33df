"""`ledgerd debug difference` for what no state holds: the operations of a block are those of the replay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ledgerd.cli import main
from ledgerd.cli.debug.difference import AS_OURS, AS_THEIRS, RECORDED
from ledgerd.compare.node import NodeAnswer
from ledgerd.shadow.keeping.bundles import AskedQuestion, Bundle, KeptAnswer
from tests.chain.recorded_chains import open_chain
from tests.chain.replays import copy_replayed
from tests.recorded import ANSWERED, recorded_answers

CHAIN, HEAD = "open-pm2", 440
OPERATIONS = recorded_answers(CHAIN, ANSWERED[CHAIN])["get_ops_in_block"]
RICHEST = 435
"""A block with operations of both kinds."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("data")
    copy_replayed(CHAIN, HEAD, data)
    (data / "config.ini").write_text("chain = testnet\nshared-file-size = 64M\n")
    return data


@pytest.fixture(scope="module")
def head_id(data: Path) -> str:
    with open_chain(CHAIN, data) as chain:
        return chain.head_id.hex()


class Asker:
    """Asks again what two nodes have answered at the head."""

    def __init__(self, data: Path, head_id: str, folder: Path) -> None:
        self.data, self.head_id, self.folder = data, head_id, folder

    def __call__(self, arguments: list[object], *answers: Any, method: str = "get_ops_in_block") -> int:
        bundle = Bundle(
            is_of_consensus=False,
            question=AskedQuestion("operation_history", method, arguments),
            place="[0]",
            first="1",
            second="2",
            nodes=["ours", "theirs"],
            versions=["1", "2"],
            program="ledgerd",
            found_at="2026-01-01T00:00:00",
            block=HEAD,
            block_id=self.head_id,
            first_block=HEAD,
            equal_block=HEAD - 1,
            answers=[KeptAnswer.of(NodeAnswer(answer)) for answer in answers],
        )
        file = self.folder / "difference.json"
        file.write_bytes(msgspec.json.encode(bundle))
        return main(["debug", "difference", str(file), "--data-dir", str(self.data), "--work", str(self.folder)])


@pytest.fixture
def asked(data: Path, head_id: str, tmp_path: Path) -> Asker:
    return Asker(data, head_id, tmp_path)


@pytest.mark.parametrize("only_virtual", [False, True])
def test_whoever_has_left_an_operation_out_is_found(
    asked: Asker, capsys: pytest.CaptureFixture[str], only_virtual: bool
) -> None:
    right = json.loads(OPERATIONS[RICHEST, only_virtual])
    wrong = right[:-1]

    assert asked([RICHEST, only_virtual], right, wrong) == AS_OURS
    assert "theirs has said something else:" in capsys.readouterr().out
    assert asked([RICHEST, only_virtual], wrong, right) == AS_THEIRS


@pytest.mark.parametrize(
    ("method", "arguments"),
    [("get_transaction", ["00" * 20]), ("get_ops_in_block", []), ("get_ops_in_block", ["1", False])],
)
def test_what_else_a_node_has_recorded_cannot_be_asked_again(
    asked: Asker, capsys: pytest.CaptureFixture[str], method: str, arguments: list[object]
) -> None:
    assert "operation_history" in RECORDED
    assert asked(arguments, [], [1], method=method) == 1
    assert f"operation_history.{method}(" in capsys.readouterr().err


def test_a_block_that_the_replay_does_not_apply_is_said(asked: Asker, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked([HEAD + 1, False], [], [1]) == 1
    assert f"the replay has not applied block {HEAD + 1}" in capsys.readouterr().err
