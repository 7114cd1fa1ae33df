"""After an emergency the validators go on: the silence that began it is not held against those who came back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from ledgerd.chain.rules.validators.slots import participation
from ledgerd.producer.decision import HEALTHY_PARTICIPATION, Guards, decide
from ledgerd.producer.facts import Facts, read_facts
from ledgerd.producer.outcome import TickOutcome
from ledgerd.producer.settings import ProducerSettings, keyring
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.operations.validators import ValidatorUpdate
from tests.chain.networks import COMMITTEE, OTHERS, SEVEN, VIZ, VIZ_KEY, Network, start_seven

EMERGENCY_KEY = PrivateKey(b"e" * 32)
SILENCE = 450
"""Slots; after 399 of them an emergency begins."""


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    """Seven validators who were silent, lost their keys, and have just got them back."""
    network = start_seven(tmp_path, replace(SEVEN, emergency_key=EMERGENCY_KEY.public))
    network.produce(1, skipped=SILENCE)
    assert network.chain.globals.emergency_consensus_active
    network.keys[COMMITTEE] = EMERGENCY_KEY
    for name in (VIZ, *OTHERS):
        key = VIZ_KEY if name == VIZ else network.keys[name]
        network.send(ValidatorUpdate(name, "https://example.test", key.public), key=key)
    while network.chain.globals.emergency_consensus_active:
        network.produce()
    yield network
    network.chain.close()


def facts_of(network: Network) -> Facts:
    return read_facts(network.chain, (VIZ, *OTHERS))


def outcome(network: Network, facts: Facts) -> TickOutcome:
    settings = ProducerSettings(names=(VIZ, *OTHERS), keys=keyring(network.keys.values()))
    return decide(facts.first_slot * 1_000_000, facts, settings, Guards(allows_stale=False)).outcome


def test_validators_that_return_from_an_emergency_produce_at_once(network: Network) -> None:
    facts = facts_of(network)

    assert participation(network.chain.globals.recent_slots_filled) < HEALTHY_PARTICIPATION
    assert facts.participation == 10_000
    assert outcome(network, facts._replace(recent_producers=())) is TickOutcome.PRODUCED


def test_validators_absent_after_an_emergency_count_in_participation(network: Network) -> None:
    network.produce(1, skipped=40)

    facts = facts_of(network)

    filled = network.chain.head_number - network.chain.globals.emergency_consensus_start_block
    assert facts.participation == 10_000 * filled // (filled + 40)
    assert outcome(network, facts._replace(recent_producers=())) is TickOutcome.LOW_PARTICIPATION


def test_long_after_an_emergency_all_remembered_slots_count(network: Network) -> None:
    network.produce(130)
    network.produce(1, skipped=64)

    assert facts_of(network).participation == participation(network.chain.globals.recent_slots_filled) == 5_000
