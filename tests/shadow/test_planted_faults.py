"""Each kind of fault is found within the blocks and requests that docs/shadow.md promises, with a bundle of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledgerd.chain.steps.inflation import pay_inflation
from ledgerd.cli.debug.difference import AS_THEIRS
from ledgerd.cli.main import main
from ledgerd.cli.tools.shadow import DIFFERENT
from ledgerd.shadow.asking.suspects import LASTS_BLOCKS, LONGEST_PAUSE
from ledgerd.shadow.keeping.bundles import Bundle, read_bundle
from tests.shadow.real_nodes import BLOCK_SECONDS, Change, RealPair, real_pair

LASTING = LASTS_BLOCKS + int(LONGEST_PAUSE / BLOCK_SECONDS) + 1
"""Blocks from the first answer that differs until it is told."""
ROUND = 21


def found_within(pair: RealPair, blocks: int) -> Bundle:
    pair.run(blocks, until=lambda: bool(pair.told))
    assert pair.told, f"not found within {blocks} blocks: {pair.record}"
    assert pair.record.first is not None
    bundle = read_bundle(Path(pair.record.first.file))
    assert bundle.first_block <= bundle.block - LASTS_BLOCKS
    return bundle


def richer(name: str) -> Change:
    def change(method: str, _arguments: list[Any], result: Any) -> Any:
        if method == "get_accounts":
            return [each | {"balance": "1.234 VIZ"} if each["name"] == name else each for each in result]
        return result

    return change


def test_equal_nodes_stay_equal(tmp_path: Path) -> None:
    with real_pair(tmp_path) as pair:
        pair.run(70)

        assert (pair.told, pair.files) == ([], [])
        assert pair.record.equal.number == pair.head - 1
        assert pair.record.blocks == 70
        assert pair.record.doubtful == 0
        assert pair.record.reads > 1_000


def test_the_balance_of_an_account_that_a_block_touches_is_found_at_that_block(tmp_path: Path) -> None:
    with real_pair(tmp_path) as pair:
        pair.run(2)
        pair.theirs.change = richer("viz")

        bundle = found_within(pair, 1 + LASTING)

        assert bundle.is_of_consensus
        assert bundle.place.endswith(".balance")
        assert bundle.second == '"1.234 VIZ"'
        assert all('"timestamp"' in each for each in bundle.blocks)
        assert bundle.blocks


def test_a_step_that_one_node_leaves_out_is_found_at_that_block_and_replays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with real_pair(tmp_path) as pair:
        pair.run(2)
        pair.ours.skipped = pay_inflation

        bundle = found_within(pair, 1 + LASTING)

        assert bundle.is_of_consensus
        assert (bundle.question.method, bundle.place) == ("get_dynamic_global_properties", "current_supply")
        assert bundle.first_block == bundle.equal_block + 1
    file = pair.files[0]
    assert main(["shadow", "report", str(file)]) == DIFFERENT
    assert "a difference of consensus" in capsys.readouterr().out
    words = ["--data-dir", str(tmp_path / "theirs"), "--chain", "testnet", "--work", str(tmp_path)]
    assert main(["debug", "difference", str(file), *words]) == AS_THEIRS
    told = capsys.readouterr().out
    assert "http://theirs has said the same" in told
    assert "  current_supply: " in told


def test_the_order_of_a_list_is_found_after_a_round(tmp_path: Path) -> None:
    def change(method: str, _arguments: list[Any], result: Any) -> Any:
        return result[::-1] if method == "list_markets" else result

    with real_pair(tmp_path) as pair:
        pair.run(2)
        pair.theirs.change = change

        bundle = found_within(pair, 2 * ROUND + LASTING)

        assert not bundle.is_of_consensus
        assert bundle.question.method == "list_markets"


@pytest.mark.parametrize("method", ["get_invite_by_id", "get_validator_by_account"])
def test_a_field_of_any_answer_is_found_when_every_method_was_asked(tmp_path: Path, method: str) -> None:
    def change(asked: str, _arguments: list[Any], result: Any) -> Any:
        return {**result, "added": 1} if asked == method and isinstance(result, dict) else result

    with real_pair(tmp_path) as pair:
        pair.theirs.change = change

        bundle = found_within(pair, 2 * ROUND + LASTING)

        assert not bundle.is_of_consensus
        assert (bundle.place, bundle.first, bundle.second) == ("added", "absent", "1")


def test_the_balance_of_an_account_that_nothing_touches_is_found_by_the_sweep(tmp_path: Path) -> None:
    with real_pair(tmp_path) as pair:
        pair.run(2)
        pair.theirs.change = richer("null")

        found_within(pair, 3 * ROUND + LASTING)

        assert pair.record.first is not None
        assert "null" in pair.record.first.words


def test_one_difference_is_told_once_and_the_comparison_goes_on(tmp_path: Path) -> None:
    with real_pair(tmp_path) as pair:
        pair.theirs.change = richer("viz")
        pair.run(LASTING + 2)
        told, questions = list(pair.told), pair.record.questions
        pair.run(LASTING)

        assert len(told) == len(set(told))
        assert pair.record.told == list(dict.fromkeys(pair.record.told))
        assert pair.record.questions > questions
        assert not pair.record.is_equal
