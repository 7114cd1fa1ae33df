"""Two nodes of a recorded chain are equal, and whatever one of them says otherwise is found and named."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgerd.cli.main import main
from ledgerd.cli.tools.compare import DIFFERENT, EQUAL, NOT_COMPARED
from tests.compare.doubles import HEIGHT, listening, recorded_node

QUICK = ("--rate", "100000", "--seed", "7", "--reads", "3")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with recorded_node(tmp_path_factory.mktemp("sound")) as url:
        yield url


@pytest.fixture
def altered(tmp_path: Path) -> Iterator[Callable[[Callable[[str, list[Any], Any], Any]], str]]:
    """A second node, whose answers pass through a function that a test gives."""
    changes: list[Callable[[str, list[Any], Any], Any]] = []

    def change(method: str, arguments: list[Any], result: Any) -> Any:
        return changes[0](method, arguments, result)

    def begin(given: Callable[[str, list[Any], Any], Any]) -> str:
        changes.append(given)
        return url

    with recorded_node(tmp_path, change) as url:
        yield begin


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """What differs is asked again at once, heads have a moment to become one, and few ids tell as much as many."""
    monkeypatch.setattr("ledgerd.compare.asking.PAUSE", 0.0)
    monkeypatch.setattr("ledgerd.compare.asking.LONGEST_WAIT", 0.2)
    monkeypatch.setattr("ledgerd.compare.blocks.IDS", 80)


def test_equal_nodes_are_equal(sound: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", sound, sound, *QUICK]) == EQUAL

    out = capsys.readouterr().out
    assert f"comparing {sound} with {sound}, seed 7" in out
    assert "blocks 384 to 463: the same ids" in out
    assert re.search(rf"^equal at block {HEIGHT} [0-9a-f]{{40}} \(", out, re.MULTILINE)
    assert re.search(r"prediction_market_api: 3 reads of \d\d methods are equal", out)
    assert re.search(r"^account_history: not at both$", out, re.MULTILINE)


def test_json_has_the_verdict(sound: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", sound, sound, *QUICK, "--json"]) == EQUAL

    verdict = json.loads(capsys.readouterr().out)
    assert (verdict["verdict"], verdict["seed"], verdict["block"]) == ("equal", 7, HEIGHT)


def _richer(method: str, _arguments: list[Any], result: Any) -> Any:
    if method == "get_accounts":
        for account in result:
            if account["name"] == "alice":
                account["balance"] = "1000000.000 VIZ"
    return result


def _poorer_supply(method: str, _arguments: list[Any], result: Any) -> Any:
    return {**result, "current_supply": "1.000 VIZ"} if method == "get_dynamic_global_properties" else result


def _other_block(method: str, arguments: list[Any], result: Any) -> Any:
    if method == "get_block_header" and arguments == [401]:
        return {**result, "previous": f"{400:08x}" + "ab" * 16}
    return result


def _forgotten_account(method: str, _arguments: list[Any], result: Any) -> Any:
    return result[:-1] if method == "lookup_accounts" else result


def _other_schedule(method: str, _arguments: list[Any], result: Any) -> Any:
    return {**result, "majority_version": "9.9.9"} if method == "get_validator_schedule" else result


def _without_field(method: str, _arguments: list[Any], result: Any) -> Any:
    return [{k: v for k, v in each.items() if k != "energy"} for each in result] if method == "get_accounts" else result


def _other_raw_block(method: str, _arguments: list[Any], result: Any) -> Any:
    return {**result, "raw_block": "AA=="} if method == "get_raw_block" else result


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_richer, r"get_accounts\(.*: \[\d+\]\.balance is \".*\" at .*, \"1000000.000 VIZ\" at "),
        (_poorer_supply, r"current_supply is \".*\" at .*, \"1.000 VIZ\" at "),
        (_other_block, r"the id of block 400 is \"0000019"),
        (_forgotten_account, r"lookup_accounts\(.*the length of the list is 70 at .*, 69 at "),
        (_other_schedule, r"get_validator_schedule\(\): majority_version is .*, \"9.9.9\" at "),
        (_without_field, r"energy is \d+ at .*, absent at "),
        (_other_raw_block, r"get_raw_block\(\d+\): raw_block is .*, \"AA==\" at "),
    ],
)
def test_a_difference_is_named(
    sound: str,
    altered: Callable[[Callable[[str, list[Any], Any], Any]], str],
    change: Callable[[str, list[Any], Any], Any],
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = altered(change)

    assert main(["compare", sound, other, *QUICK]) == DIFFERENT

    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("different at block ")
    assert re.search(words, last), last


def test_fields_of_another_version_are_listed(
    sound: str,
    altered: Callable[[Callable[[str, list[Any], Any], Any]], str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    def older(method: str, arguments: list[Any], result: Any) -> Any:
        if method == "get_config":
            return {**result, "CHAIN_VERSION": "3.2.0"}
        return _without_field(method, arguments, result)

    assert main(["compare", sound, altered(older), *QUICK]) == EQUAL

    out = capsys.readouterr().out
    assert "the versions differ, " in out
    assert f"database_api.get_accounts: energy is answered by {sound} alone" in out


def _higher(method: str, _arguments: list[Any], result: Any) -> Any:
    if method == "get_dynamic_global_properties":
        return {**result, "head_block_number": 500, "head_block_id": f"{500:08x}" + "00" * 16}
    return result


def _contradicting(method: str, _arguments: list[Any], result: Any) -> Any:
    return {**result, "head_block_number": 464} if method == "get_dynamic_global_properties" else result


def _irreversible_above(method: str, _arguments: list[Any], result: Any) -> Any:
    return {**result, "last_irreversible_block_num": 999} if method == "get_dynamic_global_properties" else result


def _foreign(method: str, _arguments: list[Any], result: Any) -> Any:
    return {**result, "CHAIN_ID": "00" * 32} if method == "get_config" else result


def _another_head(method: str, _arguments: list[Any], result: Any) -> Any:
    if method == "get_dynamic_global_properties":
        return {**result, "head_block_id": f"{HEIGHT:08x}" + "cd" * 16, "last_irreversible_block_num": HEIGHT - 1}
    return result


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_higher, "says that its head is block 500, and has no such block"),
        (_contradicting, "says that its head is block 464, but its id .* is of block 463"),
        (_irreversible_above, "says that block 999 is irreversible, above its head 463"),
        (_foreign, "the nodes are of different chains: CHAIN_ID is "),
        (_another_head, "the nodes never stand at the same block: "),
    ],
)
def test_a_lie_ends_the_comparison(
    sound: str,
    altered: Callable[[Callable[[str, list[Any], Any], Any]], str],
    change: Callable[[str, list[Any], Any], Any],
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["compare", sound, altered(change), *QUICK]) == NOT_COMPARED

    assert re.search(words, capsys.readouterr().out.splitlines()[-1])


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, b"<html>", "answers database_api.get_config with something that is not JSON"),
        (200, b"[" * 100_000, "something that is not JSON"),
        (200, b'{"id":1}', "with neither a result nor an error"),
        (200, b'{"error":{"code":1,"message":"busy\\n"}}', "answers database_api.get_config with an error: busy"),
        (502, b"Bad Gateway", "answers with HTTP status 502 Bad Gateway"),
    ],
)
def test_nonsense_ends_the_comparison(
    sound: str, status: int, body: bytes, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with listening(lambda _request: (status, body)) as url:
        assert main(["compare", sound, url, *QUICK]) == NOT_COMPARED

    assert words in capsys.readouterr().out.splitlines()[-1]


def test_nodes_that_both_name_no_accounts_are_not_called_equal(
    altered: Callable[[Callable[[str, list[Any], Any], Any]], str], capsys: pytest.CaptureFixture[str]
) -> None:
    url = altered(lambda method, _arguments, result: None if method == "lookup_accounts" else result)
    assert main(["compare", url, url, *QUICK]) == NOT_COMPARED

    assert "gives the names of accounts" in capsys.readouterr().out.splitlines()[-1]


def test_a_node_that_is_not_there_is_said(sound: str, capsys: pytest.CaptureFixture[str]) -> None:
    with listening(lambda _request: (200, b"")) as url:
        pass

    assert main(["compare", sound, url, *QUICK]) == NOT_COMPARED
    assert f"{url} gives no answer" in capsys.readouterr().out


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "127.0.0.1:8090", "http://", "http://[::1", "http://a:b@127.0.0.1"])
def test_a_wrong_address_is_refused(sound: str, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", url, sound, *QUICK]) == NOT_COMPARED
    assert "address" in capsys.readouterr().out


def test_the_same_seed_asks_the_same(sound: str, tmp_path: Path) -> None:
    asked: list[list[object]] = [[], []]
    for index in range(2):

        def change(method: str, arguments: list[Any], result: Any, index: int = index) -> Any:
            asked[index].append((method, arguments))
            return result

        with recorded_node(tmp_path / str(index), change) as url:
            assert main(["compare", url, sound, *QUICK]) == EQUAL

    assert asked[0] == asked[1]
