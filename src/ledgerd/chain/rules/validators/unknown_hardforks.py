"""Votes for a hardfork that this program does not know, told to operators; no rule reads them (spec 03, 21)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.types.time_text import time_text
from ledgerd.protocol.types.times import Time
from ledgerd.protocol.types.versions import HardforkVersion, version_text
from ledgerd.state.objects.globals import HARDFORK_PROPERTIES
from ledgerd.state.objects.validators import VALIDATOR_BY_NAME, VALIDATOR_SCHEDULES, Validator
from ledgerd.state.views.view import View


class UnknownHardforkVotes(NamedTuple):
    """The hardfork that most of these validators vote for, and how many of them."""

    version: HardforkVersion
    time: Time
    votes: int
    validators: int
    required: int
    is_agreed: bool
    """Whether the chain has counted enough votes: the hardfork happens at its time."""

    def __str__(self) -> str:
        hardfork = f"hardfork version {version_text(self.version)} of {time_text(self.time)} UTC"
        if self.is_agreed:
            return f"{hardfork} is agreed on; this program does not know it and will stop there: update it"
        return (
            f"{self.votes} of {self.validators} validators vote for {hardfork}, which this program does not know; "
            f"with {self.required} votes it will stop there: update it"
        )


def unknown_hardfork_votes(state: View, network: ChainParameters) -> UnknownHardforkVotes | None:
    """The votes of the validators of this round for one hardfork after the last known one."""
    schedule = state.get(VALIDATOR_SCHEDULES, 0)
    names = dict.fromkeys(schedule.scheduled)
    found = (state.lookup(VALIDATOR_BY_NAME, name) for name in names)
    voters = [validator for validator in found if validator is not None]
    hardforks = state.get(HARDFORK_PROPERTIES, 0)
    required = network.hardfork_required_validators
    if hardforks.next_hardfork > network.hardfork_version:
        version, time = hardforks.next_hardfork, hardforks.next_hardfork_time
        votes = _votes(voters, network)[version, time]
        return UnknownHardforkVotes(version, time, votes, len(voters), required, is_agreed=True)
    for (version, time), votes in _votes(voters, network).most_common(1):
        return UnknownHardforkVotes(version, time, votes, len(voters), required, is_agreed=False)
    return None


def _votes(voters: Iterable[Validator], network: ChainParameters) -> Counter[tuple[HardforkVersion, Time]]:
    return Counter(
        (each.hardfork_version_vote, each.hardfork_time_vote)
        for each in voters
        if each.hardfork_version_vote > network.hardfork_version
    )
