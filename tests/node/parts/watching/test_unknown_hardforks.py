"""A node that stops at hardfork 13 warns while the recorded validators vote for hardfork 14, until it cannot go on."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.migrations.hardforks import UnknownHardfork
from ledgerd.chain.rules.validators.unknown_hardforks import UnknownHardforkVotes, unknown_hardfork_votes
from ledgerd.node.parts.watching.unknown_hardforks import REPEATED_EVERY, HardforkWarning
from ledgerd.protocol.types.versions import version_number
from tests.chain.recorded_chains import advance, network_of, until_hardfork_13

NAME = "open-main15"
HARDFORK_13, HARDFORK_14 = 294, 315

SAID = re.compile(r"(\d+) of (\d+) validators vote for hardfork version 4\.0\.0 of 2026-08-28T00:00:00 UTC, ")


def older_chain(folder: Path) -> Chain:
    return Chain.open(folder, until_hardfork_13(network_of(NAME)), clock=lambda: 0.0)


def counts(caplog: pytest.LogCaptureFixture) -> list[int]:
    """The votes in each warning so far."""
    found = [SAID.search(record.message) for record in caplog.records if record.levelname == "WARNING"]
    assert all(each is not None and each[2] == "21" for each in found)
    return [int(each[1]) for each in found if each is not None]


def test_an_older_node_warns_of_the_recorded_votes_until_it_cannot_apply_what_they_agree_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with older_chain(tmp_path) as chain, caplog.at_level(logging.INFO):
        advance(chain, NAME, HARDFORK_13)
        HardforkWarning().observe(chain)
        assert counts(caplog) == []

        for number in range(HARDFORK_13 + 1, HARDFORK_14):
            advance(chain, NAME, number)
        found = unknown_hardfork_votes(chain.state, chain.network)
        with pytest.raises(UnknownHardfork):
            advance(chain, NAME, HARDFORK_14)

    assert found is not None
    assert (found.version, found.validators, found.required) == (version_number(4, 0), 21, 17)
    assert found.votes >= 17
    assert 0 < counts(caplog)[0] < counts(caplog)[-1] <= found.votes


def test_the_same_votes_are_told_again_after_an_hour_and_their_end_once(caplog: pytest.LogCaptureFixture) -> None:
    warning = HardforkWarning()
    three = UnknownHardforkVotes(version_number(9, 1), 1_900_000_000, 3, 21, 17, is_agreed=False)
    with caplog.at_level(logging.INFO):
        for head in (100, 107, 100 + REPEATED_EVERY - 1):
            warning.report(three, head)
        assert len(caplog.records) == 1
        warning.report(three, 100 + REPEATED_EVERY)
        assert len(caplog.records) == 2
        warning.report(three._replace(votes=4), 101 + REPEATED_EVERY)
        warning.report(None, 102 + REPEATED_EVERY)
        warning.report(None, 103 + REPEATED_EVERY)

    counted, ended = (record.message for record in caplog.records[2:])
    assert counted == (
        "4 of 21 validators vote for hardfork version 9.1.0 of 2030-03-17T17:46:40 UTC, which this program does not "
        "know; with 17 votes it will stop there: update it"
    )
    assert ended == "no validator votes for an unknown hardfork any more"
