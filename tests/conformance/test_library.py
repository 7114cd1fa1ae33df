"""A library by its adapter: ours has the recorded facts, and a fault in any function is found and named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO, StringIO
from pathlib import Path

import pytest

from ledgerd.conformance import library, vectors
from ledgerd.conformance.adapter import FUNCTIONS, offered
from ledgerd.conformance.command import main
from ledgerd.conformance.library import check_answers
from ledgerd.conformance.questions import is_readable, questions
from ledgerd.conformance.report import CONFORMS, DIFFERS, NOTHING_COMPARED, ConformanceReport
from ledgerd.conformance.serving import AdapterFunction, serve
from ledgerd.conformance.vectors import Vectors, own_vectors
from ledgerd.protocol.errors import OperatorError
from tests.recorded import recorded_snapshot

CHAIN = "open-2"


def answered(functions: Mapping[str, AdapterFunction], chain: str = CHAIN, work: Path | None = None) -> str:
    """What an adapter with these functions writes."""
    here = Vectors(own_vectors())
    asked = "\n".join(each.line for each in questions(here, here.chains([chain]), work))
    answers = StringIO()
    serve(functions, StringIO(asked), answers)
    return answers.getvalue()


def checked(answers: str, chain: str = CHAIN, work: Path | None = None) -> ConformanceReport:
    here = Vectors(own_vectors())
    chains = here.chains([chain])
    return check_answers("ours", questions(here, chains, work), BytesIO(answers.encode()), chains)


def rows(report: ConformanceReport) -> dict[str, str]:
    return {f"{each['subject']}/{each['check']}": each["verdict"] for each in json.loads(report.as_json())["checks"]}


def test_our_library_has_every_recorded_fact_and_our_node_every_state(tmp_path: Path) -> None:
    report = checked(answered(offered(), work=tmp_path), work=tmp_path)

    assert set(rows(report).values()) == {"pass"}
    assert {f"{CHAIN}/state", f"{CHAIN}/decode_operation", "costs/lmsr_cost"} <= rows(report).keys()
    assert report.exit_code == CONFORMS


@pytest.mark.parametrize(
    ("function", "wrong"),
    [
        ("block_id", lambda _given: "00"),
        ("decode_operation", lambda _given: ["transfer", {}]),
        ("transaction_id", lambda given: given["nothing"]),
    ],
)
def test_a_function_that_is_wrong_fails_alone(function: str, wrong: AdapterFunction) -> None:
    report = checked(answered({**FUNCTIONS, function: wrong}))

    assert [name for name, verdict in rows(report).items() if verdict != "pass"] == [f"{CHAIN}/{function}"]
    assert report.exit_code == DIFFERS
    assert f"{CHAIN}, {function}: {CHAIN}/{function}/" in report.as_text()


def test_what_is_not_offered_is_no_failure() -> None:
    report = checked(answered({"block_id": FUNCTIONS["block_id"]}))

    assert report.exit_code == CONFORMS
    assert rows(report)[f"{CHAIN}/block_id"] == "pass"
    assert rows(report)[f"{CHAIN}/merkle_root"] == "not offered"
    assert checked("").exit_code == NOTHING_COMPARED


def test_a_state_that_differs_is_told_by_section_record_and_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = json.loads(recorded_snapshot("open-pm2/state-18"))
    file = tmp_path / "state.json"
    file.write_text(json.dumps(state), encoding="utf-8")
    assert main(["state", str(file)]) == CONFORMS

    state["state"]["account"][3]["balance"] = "0.001 VIZ"
    file.write_text(json.dumps(state), encoding="utf-8")

    assert main(["state", str(file)]) == DIFFERS
    told = capsys.readouterr().out
    assert "\nopen-pm2 at 18, account: [3].balance is " in told
    assert "open-pm2 at 18  account_authority" in told


def test_a_text_that_loses_a_negative_amount_is_not_asked_back() -> None:
    assert is_readable({"insurance_delta": "98.100 VIZ", "shares": "0.000001 SHARES"})
    assert not is_readable({"insurance_delta": "-98.00 VIZ"})
    assert not is_readable({"insurance_delta": "0.99 VIZ"})


@pytest.mark.parametrize("line", ["not JSON\n", "[]\n", '{"id":1}\n', "[" * 100_000 + "\n"])
def test_answers_that_are_none_end_the_run(line: str) -> None:
    with pytest.raises(OperatorError, match="line 1 of the answers"):
        checked(line)


def test_answers_are_bounded_in_length_and_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "LONGEST_LINE", 40)
    with pytest.raises(OperatorError, match="line 2 of the answers: too long"):
        checked('{"id":"a","result":1}\n' + f'{{"id":"b","result":"{"x" * 40}"}}\n')

    monkeypatch.setattr(library, "MOST_ANSWERS", 1)
    with pytest.raises(OperatorError, match="more than 1 of them"):
        checked('{"id":"a","result":1}\n' * 2)


def test_a_state_that_swells_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "LARGEST_STATE", 1_000)

    with pytest.raises(OperatorError, match="more than 1,000 bytes"):
        vectors.read_state_file(own_vectors() / "states" / "open-2-120.vizjson")


def test_the_blocks_of_a_chain_are_the_recorded_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (chain,) = Vectors(own_vectors()).chains([CHAIN])

    assert main(["blocks", CHAIN, str(tmp_path)]) == CONFORMS

    assert (tmp_path / "block_log").read_bytes() == chain.block_log
    assert len((tmp_path / "block_log.index").read_bytes()) == 8 * 617
    assert "617 blocks on testnet" in capsys.readouterr().out


def test_what_cannot_be_compared_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--vectors", str(tmp_path), "chains"]) == NOTHING_COMPARED
    assert main(["questions", "--chain", "open-9"]) == NOTHING_COMPARED
    assert main(["state", str(tmp_path / "none")]) == NOTHING_COMPARED

    err = capsys.readouterr().err
    assert "there is no folder chains with recorded chains in it" in err
    assert "there is no recorded chain open-9 here, but open-hf0, " in err
