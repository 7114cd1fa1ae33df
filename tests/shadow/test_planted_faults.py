"""Each kind of fault is found within the blocks and requests that docs/shadow.md promises, with a bundle of it, whose
replay names the node that has the fault.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledgerd.chain.steps.inflation import pay_inflation
from ledgerd.cli.debug.difference import AS_OURS, AS_THEIRS, RECORDED
from ledgerd.cli.main import main
from ledgerd.cli.tools.shadow import DIFFERENT
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.secrets import HIDDEN
from ledgerd.shadow.asking.suspects import LASTS_BLOCKS, LONGEST_PAUSE
from ledgerd.shadow.keeping.bundles import Bundle, read_bundle
from ledgerd.shadow.keeping.record import ShadowRecord
from tests.shadow.findings import finder_in, finding
from tests.shadow.real_nodes import BLOCK_SECONDS, Change, RealPair, real_pair

LASTING = LASTS_BLOCKS + int(LONGEST_PAUSE / BLOCK_SECONDS) + 1
"""Blocks from the first answer that differs until it is told."""
ROUND = 21
OTHER_SECRET = PrivateKey(bytes(range(32))).wif


def found_within(pair: RealPair, blocks: int) -> Bundle:
    pair.run(blocks, until=lambda: bool(pair.told))
    assert pair.told, f"not found within {blocks} blocks: {pair.record}"
    assert pair.record.first is not None
    bundle = read_bundle(Path(pair.record.first.file))
    assert bundle.first_block <= bundle.block - LASTS_BLOCKS
    return bundle


def replayed(pair: RealPair, capsys: pytest.CaptureFixture[str], sound: str) -> tuple[int, str]:
    """What `ledgerd debug difference` ends with and says of the first bundle, from the blocks of the sound node."""
    capsys.readouterr()
    place = ["--data-dir", str(pair.folder.parent / sound), "--chain", "testnet", "--work", str(pair.folder)]
    assert pair.record.first is not None
    code = main(["debug", "difference", pair.record.first.file, *place])
    return code, capsys.readouterr().out


def blamed(pair: RealPair, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said of the other node where the replay agrees with ours."""
    code, told = replayed(pair, capsys, "ours")
    assert code == AS_OURS, told
    _, _, theirs = told.partition("http://ours has said the same\nhttp://theirs has said something else:\n")
    return theirs


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


def test_the_balance_of_an_account_that_a_block_touches_is_found_at_that_block(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with real_pair(tmp_path) as pair:
        pair.run(2)
        pair.theirs.change = richer("viz")

        bundle = found_within(pair, 1 + LASTING)

        assert bundle.is_of_consensus
        assert bundle.place.endswith(".balance")
        assert bundle.second == '"1.234 VIZ"'
        assert all('"timestamp"' in each for each in bundle.blocks)
        assert bundle.blocks
    assert f'  {bundle.place}: "1.234 VIZ", not ' in blamed(pair, capsys)


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
    code, told = replayed(pair, capsys, "theirs")
    assert code == AS_THEIRS
    assert "http://theirs has said the same" in told
    assert "  current_supply: " in told


def test_the_order_of_a_list_is_found_after_a_round(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def change(method: str, _arguments: list[Any], result: Any) -> Any:
        return result[::-1] if method == "list_markets" else result

    with real_pair(tmp_path) as pair:
        pair.run(2)
        pair.theirs.change = change

        bundle = found_within(pair, 2 * ROUND + LASTING)

        assert not bundle.is_of_consensus
        assert bundle.question.method == "list_markets"
    assert f"  {bundle.place}: " in blamed(pair, capsys)


@pytest.mark.parametrize("method", ["get_invite_by_id", "get_validator_by_account"])
def test_a_field_of_any_answer_is_found_when_every_method_was_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], method: str
) -> None:
    def change(asked: str, _arguments: list[Any], result: Any) -> Any:
        return {**result, "added": 1} if asked == method and isinstance(result, dict) else result

    with real_pair(tmp_path) as pair:
        pair.theirs.change = change

        bundle = found_within(pair, 2 * ROUND + LASTING)

        assert not bundle.is_of_consensus
        assert (bundle.place, bundle.first, bundle.second) == ("added", "absent", "1")
    assert blamed(pair, capsys) == "  added: 1, not absent\n"


def test_the_balance_of_an_account_that_nothing_touches_is_found_by_the_sweep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with real_pair(tmp_path) as pair:
        pair.run(2)
        pair.theirs.change = richer("null")

        bundle = found_within(pair, 3 * ROUND + LASTING)

        assert pair.record.first is not None
        assert "null" in pair.record.first.words
    assert f'  {bundle.place}: "1.234 VIZ", not ' in blamed(pair, capsys)


def test_another_secret_is_found_and_named_and_stays_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The replay has the secret, and the file has none of both."""

    def change(method: str, _arguments: list[Any], result: Any) -> Any:
        if method == "get_invite_by_id" and isinstance(result, dict) and result["invite_secret"]:
            return {**result, "invite_secret": OTHER_SECRET}
        return result

    with real_pair(tmp_path) as pair:
        pair.theirs.change = change

        bundle = found_within(pair, 4 * ROUND + LASTING)

        assert (bundle.place, bundle.first, bundle.second) == ("invite_secret", f'"{HIDDEN}"', f'"{HIDDEN}"')
        assert OTHER_SECRET not in pair.files[0].read_text()
    assert blamed(pair, capsys) == "  another value of what looks like a private key, and is not in the file\n"


@pytest.mark.parametrize("api", sorted(RECORDED))
def test_what_a_node_has_recorded_is_not_asked_of_a_state(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], api: str
) -> None:
    finder, record = finder_in(tmp_path, []), ShadowRecord()
    finder.report(finding(1, 1, 2, api), record, 0)

    assert record.first is not None
    assert main(["debug", "difference", record.first.file, "--data-dir", str(tmp_path)]) == 1
    assert f"{api}.get_block(1) asks for what a node has recorded while blocks came" in capsys.readouterr().err


def test_one_difference_is_told_once_and_the_comparison_goes_on(tmp_path: Path) -> None:
    with real_pair(tmp_path) as pair:
        pair.theirs.change = richer("viz")
        pair.run(LASTING + 2)
        told, questions = list(pair.told), pair.record.questions
        pair.run(LASTING)

        assert len(told) == len(set(told))
        assert pair.record.told == list(dict.fromkeys(pair.record.told))
        assert pair.record.questions > questions
        assert pair.record.differences
