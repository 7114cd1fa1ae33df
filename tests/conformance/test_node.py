"""A node by its URL: one that answers as the recorded one did conforms, and each other answer is found and named."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from ledgerd.conformance.command import main
from ledgerd.conformance.report import CONFORMS, DIFFERS, NOTHING_COMPARED
from ledgerd.conformance.vectors import Vectors, own_vectors
from tests.compare.doubles import listening

CHAIN = "open-2"
HEAD = 617
Envelope = dict[str, Any]
Change = Callable[[str, list[Any], Envelope], Envelope]


@cache
def recorded_envelopes() -> dict[str, str]:
    """The recorded answer to each request."""
    (chain,) = Vectors(own_vectors()).chains([CHAIN])
    return {
        json.dumps([fact.api, fact.method, fact.arguments]): fact.answer
        for kind in ("answers", "api", "account-histories")
        for fact in chain.facts(kind, HEAD)
    }


def unchanged(_method: str, _arguments: list[Any], envelope: Envelope) -> Envelope:
    return envelope


@contextmanager
def node_that(changes: Change = unchanged) -> Iterator[str]:
    """A node that answers what was recorded, but for what is changed."""

    def reply(body: bytes) -> tuple[int, bytes]:
        request = json.loads(body)
        _, method, arguments = request["params"]
        envelope = changes(method, arguments, json.loads(recorded_envelopes()[json.dumps(request["params"])]))
        return 200, json.dumps({**envelope, "id": request["id"]}).encode()

    with listening(reply) as url:
        yield url


def run(url: str, capsys: pytest.CaptureFixture[str], chain: str = CHAIN) -> tuple[int, dict[str, Any], str]:
    """The exit code, the rows by the name of their check, and what was said beside it; without a name, of all chains:
    to unpack them takes longer than all that is asked.
    """
    code = main(["node", url, "--json", *(["--chain", chain] if chain else [])])
    out, err = capsys.readouterr()
    checks = json.loads(out)["checks"] if out else []
    return code, {each["check"]: each for each in checks}, err


def test_a_node_that_answers_as_the_recorded_one_did_conforms(capsys: pytest.CaptureFixture[str]) -> None:
    def program_of_today(method: str, _arguments: list[Any], envelope: Envelope) -> Envelope:
        if method == "get_config":
            envelope["result"]["CHAIN_VERSION"] = "4.1.0"
        if method == "get_dynamic_global_properties":
            envelope["result"] |= {"pm_frozen_counters_seeded": False, "earliest_available_block_num": 1}
        return envelope

    with node_that(program_of_today) as url:
        code, rows, said = run(url, capsys, "")

    assert code == CONFORMS
    assert said == f"the node stands at block {HEAD} of {CHAIN}\n"
    assert {each["verdict"] for each in rows.values()} == {"pass"}
    assert sum(each["equal"] for each in rows.values()) >= len(recorded_envelopes())


def test_an_answer_that_differs_in_one_field_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    def another(method: str, arguments: list[Any], envelope: Envelope) -> Envelope:
        if method == "get_block" and arguments == [300]:
            envelope["result"]["validator"] = "mallory"
        return envelope

    with node_that(another) as url:
        code, rows, _ = run(url, capsys)

    assert code == DIFFERS
    (difference,) = rows["database_api"]["differences"]
    assert difference.startswith("get_block(300): validator is ")
    assert difference.endswith('"mallory" at here')
    assert {name for name, each in rows.items() if each["verdict"] == "fail"} == {"database_api"}


def test_another_error_is_a_difference_and_another_place_of_it_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    def elsewhere(_method: str, _arguments: list[Any], envelope: Envelope) -> Envelope:
        if "error" in envelope:
            envelope["error"]["data"] = None
        return envelope

    def otherwise(_method: str, _arguments: list[Any], envelope: Envelope) -> Envelope:
        return {**envelope, "error": {**envelope["error"], "code": 1}} if "error" in envelope else envelope

    with node_that(elsewhere) as url:
        assert run(url, capsys)[0] == CONFORMS
    with node_that(otherwise) as url:
        code, rows, _ = run(url, capsys)
    assert code == DIFFERS
    assert rows["account_history"]["verdict"] == "fail"


def test_an_api_that_a_node_does_not_have_is_not_offered(capsys: pytest.CaptureFixture[str]) -> None:
    def without_histories(method: str, _arguments: list[Any], envelope: Envelope) -> Envelope:
        missing = {"code": -32601, "message": "Could not find API account_history"}
        return {"error": missing} if method == "get_account_history" else envelope

    with node_that(without_histories) as url:
        code, rows, _ = run(url, capsys)

    assert code == CONFORMS
    assert rows["account_history"]["verdict"] == "not offered"
    assert rows["account_history"]["notes"] == ["account_history.get_account_history"]


def test_a_node_within_a_recorded_chain_is_asked_about_the_blocks_that_it_has(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (chain,) = Vectors(own_vectors()).chains([CHAIN])
    head = {"head_block_number": 200, "head_block_id": chain.packed_blocks[200][:20].hex()}

    def younger(method: str, _arguments: list[Any], envelope: Envelope) -> Envelope:
        return {"result": head} if method == "get_dynamic_global_properties" else envelope

    with node_that(younger) as url:
        code, rows, _ = run(url, capsys)

    assert code == CONFORMS
    assert rows["operation_history"]["equal"] >= 200
    assert rows["account_history"]["notes"] == ["the node stands at block 200"]


def test_of_a_node_on_another_chain_the_constants_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    (recorded,) = Vectors(own_vectors()).chains(["open-pm2"])
    config = json.loads(next(fact.answer for fact in recorded.facts("api", 463) if fact.method == "get_config"))

    def elsewhere(method: str, _arguments: list[Any], envelope: Envelope) -> Envelope:
        if method == "get_dynamic_global_properties":
            envelope["result"]["head_block_id"] = "0" * 40
        return dict(config) if method == "get_config" else envelope

    with node_that(elsewhere) as url:
        code, rows, said = run(url, capsys, "")
        config["result"] = {**config["result"], "CHAIN_BLOCK_INTERVAL": 4}
        assert run(url, capsys, "")[0] == DIFFERS
        config["result"] = {**config["result"], "CHAIN_ID": "ab"}
        assert run(url, capsys, "")[0] == NOTHING_COMPARED

    assert code == CONFORMS
    assert "is of no recorded chain: only constants are compared" in said
    assert list(rows) == ["database_api"]


def test_a_head_that_moves_makes_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    asked = []

    def moving(method: str, _arguments: list[Any], envelope: Envelope) -> Envelope:
        if method == "get_dynamic_global_properties":
            asked.append(method)
            if len(asked) > 2:
                envelope["result"]["head_block_number"] += 1
        return envelope

    with node_that(moving) as url:
        code, rows, said = run(url, capsys)

    assert (code, rows) == (NOTHING_COMPARED, {})
    assert "made or took a block meanwhile" in said


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((200, b"<html>"), "something that is not JSON"),
        ((200, b"[" * 100_000), "something that is not JSON"),
        ((502, b"<html>"), "HTTP status 502"),
        ((200, b"{}"), "does not say at which block it stands"),
    ],
)
def test_what_is_no_node_is_said(answer: tuple[int, bytes], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with listening(lambda _body: answer) as url:
        code, _, said = run(url, capsys)

    assert code == NOTHING_COMPARED
    assert words in said
