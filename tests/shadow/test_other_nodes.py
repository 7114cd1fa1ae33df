"""Nodes that part for good, lie, hang or change under a shadow: each is said, and none of them holds it up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ledgerd.compare.node import NodeAnswer, NotComparable
from ledgerd.shadow.asking.suspects import MOST_SUSPECTS
from ledgerd.shadow.following import LAGS_SECONDS
from ledgerd.shadow.keeping.bundles import MOST_BUNDLES, read_bundle
from tests.shadow.world import BEGINS, BLOCK_SECONDS, LAG, ModelNode, Played


def test_chains_that_part_are_found_when_the_first_block_is_irreversible(tmp_path: Path) -> None:
    played = Played(1, tmp_path, hours=0)
    played.run(0.05)
    parts_at = played.ours.parts_at = played.ours.head + 10
    played.run(1, until=lambda: bool(played.told))

    assert played.ours.head - parts_at <= LAG + 2
    first = played.record.first
    assert first is not None
    assert first.is_of_consensus
    bundle = read_bundle(Path(first.file))
    assert (bundle.equal_block, bundle.first_block) == (BEGINS + parts_at - 1, BEGINS + parts_at)
    assert bundle.place == f"the id of block {BEGINS + parts_at}"


def test_a_node_that_stands_still_is_told_as_behind_and_not_as_different(tmp_path: Path) -> None:
    played = Played(1, tmp_path, hours=0)
    played.run(0.05)
    stands = played.theirs.head

    class Standing(ModelNode):
        head = stands

    played.theirs.__class__ = Standing
    played.run((LAGS_SECONDS + 10) / 3_600)

    assert played.told == []
    assert played.record.apart.endswith(f"the other one at block {BEGINS + stands}")
    assert played.record.equal.number <= BEGINS + stands


def test_a_question_that_is_never_answered_holds_nothing_up_and_its_block_is_not_called_equal(tmp_path: Path) -> None:
    played = Played(1, tmp_path, hours=0)
    played.run(0.05)
    silent = played.theirs.head + 5

    class Silent(ModelNode):
        def ask(self, api: str, method: str, arguments: Sequence[object]) -> NodeAnswer:
            if method == "get_ops_in_block" and arguments[0] == BEGINS + silent:
                self.world.now += 30
                raise NotComparable("no answer")
            return super().ask(api, method, arguments)

    played.theirs.__class__ = Silent
    played.run(0.1)

    assert played.record.unanswered == 1
    assert played.told == []
    assert played.record.equal.number >= BEGINS + played.ours.head - 1


def test_answers_that_are_nested_too_deeply_end_nothing(tmp_path: Path) -> None:
    played = Played(1, tmp_path, hours=0)
    played.run(0.05)

    def nested(_head: int, method: str, _arguments: Sequence[Any], answer: Any) -> Any:
        if method not in {"get_block", "get_escrow"}:
            return answer
        for _ in range(3_000):
            answer = [answer]
        return answer

    played.ours.plant = played.theirs.plant = nested
    reads = played.record.reads
    played.run(0.1)

    assert played.record.unanswered > 10
    assert played.record.reads > reads
    assert played.told == []
    assert played.record.equal.number < BEGINS + played.ours.head - 50, "its blocks were not compared"


def test_a_node_of_another_chain_is_told_and_compared_no_more(tmp_path: Path) -> None:
    played = Played(1, tmp_path, hours=0)
    played.run(0.05)
    asked = played.record.questions

    def foreign(_head: int, method: str, _arguments: Sequence[Any], answer: Any) -> Any:
        return {**answer, "CHAIN_ID": "another"} if method == "get_config" else answer

    played.theirs.plant = foreign
    played.start()
    played.run(0.05)

    assert "the nodes are of different chains: 00 and another; the record is of 00" in played.record.apart
    assert (played.record.questions, played.told) == (asked, [])


def test_a_node_that_differs_in_everything_fills_neither_memory_nor_disk(tmp_path: Path) -> None:
    played = Played(1, tmp_path, hours=0)

    def lie(head: int, method: str, _arguments: Sequence[Any], answer: Any) -> Any:
        if method == "lookup_accounts":
            return [f"{head}-{number}" for number in range(100)]
        if method in {"get_config", "get_dynamic_global_properties", "get_block_header"}:
            return answer
        return {"x" * 1_000: head}

    played.theirs.plant = lie
    played.run(0.3)

    assert played.record.equal.at == 0
    assert played.record.doubtful <= MOST_SUSPECTS
    assert len(list(tmp_path.glob("difference-*"))) == MOST_BUNDLES
    assert played.record.differences == len(played.told) > MOST_BUNDLES
    assert sum(each.stat().st_size for each in tmp_path.iterdir()) < 1 << 20
    assert played.ours.head * BLOCK_SECONDS <= played.world.now
