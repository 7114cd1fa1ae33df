"""`ledgerd validator report`: each day of a validator, by the log, the history and the state of a node."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ledgerd.cli import main
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.settings import HISTORY_FOLDER
from ledgerd.protocol.operations.validators import AccountValidatorVote
from ledgerd.state.objects.validators import VALIDATOR_PENALTIES, ValidatorPenaltyExpire
from tests.chain.networks import OTHERS, VIZ, Network, key_of, start_seven
from tests.history.histories import followed

NAME = OTHERS[0]
BEFORE = 30
"""Blocks that were made before the history began."""


def produce(network: Network, count: int, *, without: str = "") -> list[str]:
    """Make blocks, none of them by one validator; those who made them."""
    made = []
    for _ in range(count):
        chain = network.chain
        slot = next(number for number in range(1, 9) if chain.scheduled_at(number) != without)
        made.append(str(chain.scheduled_at(slot)))
        network.produce(1, skipped=slot - 1)
    return made


@contextmanager
def recorded(folder: Path) -> Iterator[tuple[Network, EmbeddedStore]]:
    network = start_seven(folder, blocks=BEFORE)
    network.keys.update({name: key_of(name) for name in OTHERS})
    try:
        with followed(network.chain, folder) as store:
            yield network, store
    finally:
        network.chain.close()


def report(folder: Path, *words: str, name: str = NAME) -> int:
    return main(["validator", "report", name, "--data-dir", str(folder), "--chain", "testnet", *words])


def as_json(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert report(folder, "--json", *words) == 0
    return json.loads(capsys.readouterr().out)


def total(found: Any, field: str) -> int:
    return sum(int(day[field]) for day in found["days"])


def made_in(network: Network) -> int:
    return sum(block.validator == NAME for block in network.blocks())


def test_what_was_made_and_missed_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with recorded(tmp_path) as (network, _):
        produce(network, 20)
        before = network.chain.validator(NAME)
        assert before is not None
        missed = before.total_missed
        produce(network, 30, without=NAME)
        made, after, head = made_in(network), network.chain.validator(NAME), network.chain.head_number
        assert after is not None

    found = as_json(tmp_path, capsys)

    assert total(found, "made") == made > 0
    assert total(found, "missed") == after.total_missed - missed >= 3
    assert (found["format"], found["validator"], found["first_block"], found["last_block"]) == (1, NAME, 1, head)
    assert found["now"]["votes"] == after.votes
    assert found["now"]["total_missed"] == after.total_missed
    assert found["now"]["has_key"]


def test_votes_are_counted_when_they_are_given_and_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with recorded(tmp_path) as (network, _):
        network.send(AccountValidatorVote(VIZ, NAME, approve=True))
        network.send(AccountValidatorVote(VIZ, OTHERS[1], approve=True))
        produce(network, 2)
        network.send(AccountValidatorVote(VIZ, NAME, approve=False))
        produce(network, 2)

    found = as_json(tmp_path, capsys)

    assert (total(found, "votes_given"), total(found, "votes_taken")) == (1, 1)


def test_penalties_that_still_count_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with recorded(tmp_path) as (network, _):
        store = network.chain.parts.store
        store.create(
            VALIDATOR_PENALTIES, ValidatorPenaltyExpire(validator=NAME, penalty_percent=100, expires=1_900_000_000)
        )
        store.create(
            VALIDATOR_PENALTIES, ValidatorPenaltyExpire(validator=VIZ, penalty_percent=7, expires=1_900_000_000)
        )
        store.commit()

    assert as_json(tmp_path, capsys)["now"]["penalties"] == [{"percent": 100, "expires": 1_900_000_000}]
    report(tmp_path)
    assert "penalty: 1 % until 2030-03-17T17:46:40 UTC" in capsys.readouterr().out


def test_a_node_without_a_history_tells_blocks_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with recorded(tmp_path) as (network, _):
        produce(network, 20, without=NAME)
        made = made_in(network)
    shutil.rmtree(tmp_path / HISTORY_FOLDER)

    found = as_json(tmp_path, capsys)
    assert (total(found, "made"), total(found, "missed"), found["missed_from"]) == (made, 0, 0)
    report(tmp_path)
    assert "missed slots are not recorded here" in capsys.readouterr().out


def test_the_table_has_a_line_a_day(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with recorded(tmp_path) as (network, _):
        produce(network, 10)

    assert report(tmp_path) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [
        "day",
        "made",
        "missed",
        "reward",
        "votes",
        "given",
        "votes",
        "taken",
        "switched",
        "off",
    ]
    assert lines[1].split()[0] == "2027-01-15"


def test_an_unknown_validator_and_a_wrong_number_of_days_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with recorded(tmp_path):
        pass

    assert report(tmp_path, name="nobody") == 1
    assert "there is no validator nobody" in capsys.readouterr().err
    assert report(tmp_path, "--days", "0") == 1
    assert "give a number from 1 to" in capsys.readouterr().err
