"""Each branch of a tick (spec 06, section 10.5), with a round of three validators of which one is ours."""

from __future__ import annotations

import pytest

from ledgerd.producer.decision import Guards, decide
from ledgerd.producer.facts import Facts, Rival, next_own_slot
from ledgerd.producer.outcome import Decision, Duty, TickOutcome
from ledgerd.producer.settings import ProducerSettings, keyring
from ledgerd.producer.time.clock import SECOND
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.crypto.keys import NULL_KEY, PrivateKey, PublicKey
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName

KEY = PrivateKey(b"\1" * 32)
OURS, ALICE, BOB = AccountName("ours"), AccountName("alice"), AccountName("bob")
HEAD = BlockId(b"\0\0\0\x64" + b"h" * 16)
OTHER = BlockId(b"\0\0\0\x64" + b"o" * 16)
RIVAL = BlockId(b"\0\0\0\x65" + b"r" * 16)
HEAD_TIME = 1_800_000_000
SLOT = HEAD_TIME + 3
ON_TIME = (SLOT - HEAD_TIME) * SECOND + HEAD_TIME * SECOND - SECOND // 4

SETTINGS = ProducerSettings(names=(OURS,), keys=keyring([KEY]))
FACTS = Facts(
    head_number=100,
    head_id=HEAD,
    head_time=HEAD_TIME,
    first_slot=SLOT,
    aslot=2,
    scheduled=(OURS, ALICE, BOB),
    keys={OURS: KEY.public},
    is_hardfork12=True,
    is_emergency=False,
    participation=10_000,
    max_validators=3,
    recent_producers=(BOB, ALICE, OURS),
)


def look(
    now: int = ON_TIME,
    facts: Facts = FACTS,
    settings: ProducerSettings = SETTINGS,
    guards: Guards | None = None,
) -> Decision:
    return decide(now, facts, settings, guards or Guards(settings.allows_stale))


def test_our_slot_is_filled() -> None:
    assert look() == Decision(TickOutcome.PRODUCED, duty=Duty(SLOT, OURS))


@pytest.mark.parametrize(
    ("offset", "outcome"),
    [
        (-SECOND, TickOutcome.NOT_TIME_YET),
        (-SECOND // 4 - 1, TickOutcome.NOT_TIME_YET),
        (-SECOND // 4, TickOutcome.PRODUCED),
        (SECOND * 3 // 4 - 1, TickOutcome.PRODUCED),
        (SECOND * 3 // 4, TickOutcome.LAG),
        (SECOND * 11 // 4 - 1, TickOutcome.LAG),
        (SECOND * 11 // 4, TickOutcome.NOT_MY_TURN),
    ],
)
def test_the_window_of_a_slot_is_a_second(offset: int, outcome: TickOutcome) -> None:
    assert look(SLOT * SECOND + offset).outcome is outcome


def test_lag_is_told_in_the_words_that_scripts_look_for() -> None:
    assert "node didn't wake up within 500ms of the slot time." in look(SLOT * SECOND + SECOND).reason


def test_too_few_validators_stop_production_unless_it_may_be_stale() -> None:
    few = FACTS._replace(participation=3299)

    refused = look(facts=few)
    assert refused.outcome is TickOutcome.LOW_PARTICIPATION
    assert refused.reason.endswith("with only 32% validator participation")
    assert look(facts=few, guards=Guards(allows_stale=True)).outcome is TickOutcome.PRODUCED
    assert look(facts=few._replace(is_emergency=True)).outcome is TickOutcome.PRODUCED
    assert look(facts=few._replace(max_validators=1)).outcome is TickOutcome.PRODUCED


def test_before_hardfork_12_participation_is_looked_at_in_our_slot_alone() -> None:
    few = FACTS._replace(participation=3299, is_hardfork12=False)

    assert look(facts=few).outcome is TickOutcome.LOW_PARTICIPATION
    assert look(SLOT * SECOND - SECOND, few).outcome is TickOutcome.NOT_TIME_YET


def test_a_healthy_network_ends_stale_production_for_good() -> None:
    guards = Guards(allows_stale=True)

    look(facts=FACTS._replace(participation=3300), guards=guards)

    assert not guards.allows_stale
    assert look(facts=FACTS._replace(participation=100), guards=guards).outcome is TickOutcome.LOW_PARTICIPATION


def test_stale_production_stays_allowed_in_a_network_of_one() -> None:
    guards = Guards(allows_stale=True)

    look(facts=FACTS._replace(max_validators=1), guards=guards)

    assert guards.allows_stale


def test_a_round_of_our_blocks_alone_is_a_minority_fork() -> None:
    alone = FACTS._replace(recent_producers=(OURS,) * 3)

    refused = look(facts=alone)

    assert refused.outcome is TickOutcome.MINORITY_FORK
    assert refused.asks_for_resync
    assert refused.reason.startswith("MINORITY FORK DETECTED: ")
    assert look(facts=alone._replace(recent_producers=(OURS,) * 2)).outcome is TickOutcome.PRODUCED
    assert look(facts=alone._replace(is_emergency=True)).outcome is TickOutcome.PRODUCED


def test_blocks_of_an_emergency_are_no_minority_fork_after_it() -> None:
    master = ProducerSettings(names=(OURS, COMMITTEE_ACCOUNT), keys=keyring([KEY]))
    after = FACTS._replace(recent_producers=(OURS, COMMITTEE_ACCOUNT, COMMITTEE_ACCOUNT))

    assert look(facts=after, settings=master).outcome is TickOutcome.PRODUCED
    assert look(facts=after._replace(is_hardfork12=False), settings=master).outcome is TickOutcome.MINORITY_FORK
    assert (
        look(facts=after._replace(recent_producers=(OURS,) * 3), settings=master).outcome is TickOutcome.MINORITY_FORK
    )


def test_a_minority_fork_does_not_stop_stale_production() -> None:
    alone = FACTS._replace(recent_producers=(OURS,) * 3, participation=100)

    assert look(facts=alone, guards=Guards(allows_stale=True)).outcome is TickOutcome.PRODUCED


def test_in_an_emergency_a_minority_fork_stops_only_a_rolling_node_that_is_no_master() -> None:
    alone = FACTS._replace(recent_producers=(OURS,) * 3, is_emergency=True, is_rolling=True)
    master = ProducerSettings(names=(OURS, COMMITTEE_ACCOUNT), keys=keyring([KEY]))

    assert look(facts=alone, guards=Guards(allows_stale=True)).outcome is TickOutcome.MINORITY_FORK
    assert look(facts=alone._replace(scheduled=(OURS, COMMITTEE_ACCOUNT)), settings=master).outcome is not (
        TickOutcome.MINORITY_FORK
    )


def test_a_network_of_one_is_no_minority() -> None:
    one = FACTS._replace(recent_producers=(OURS,), max_validators=1)

    assert look(facts=one).outcome is TickOutcome.PRODUCED


def test_a_slot_of_another_validator_is_not_filled() -> None:
    assert look(facts=FACTS._replace(aslot=0)) == Decision(TickOutcome.NOT_MY_TURN)


def test_a_slot_that_is_not_after_the_head_waits() -> None:
    assert look(facts=FACTS._replace(head_time=SLOT)).outcome is TickOutcome.NOT_TIME_YET


@pytest.mark.parametrize("keys", [{}, {OURS: NULL_KEY}])
def test_a_validator_without_a_key_on_the_chain_has_no_turn(keys: dict[AccountName, PublicKey]) -> None:
    refused = look(facts=FACTS._replace(keys=keys))

    assert refused.outcome is TickOutcome.NOT_MY_TURN
    assert "has no signing key on the chain" in refused.reason


def test_a_key_that_we_do_not_have_is_named_by_its_public_half() -> None:
    other = PrivateKey(b"\2" * 32)

    refused = look(facts=FACTS._replace(keys={OURS: other.public}))

    assert refused.outcome is TickOutcome.NO_PRIVATE_KEY
    assert refused.reason.startswith("Not producing block for ours because I don't have the private key for VIZ")
    assert other.wif not in refused.reason


# -- collisions (section 10.8)

RIVALS = (Rival(RIVAL, OTHER, ALICE, 0),)


def test_production_is_deferred_to_an_equal_branch_for_a_limited_time() -> None:
    guards, facts = Guards(allows_stale=False), FACTS._replace(rivals=RIVALS)
    for number in range(1, 22):
        refused = look(facts=facts, guards=guards)
        assert (refused.outcome, guards.deferred) == (TickOutcome.FORK_COLLISION, number)

    decided = look(facts=facts, guards=guards)

    assert (decided.outcome, decided.discarded, guards.deferred) == (TickOutcome.PRODUCED, (RIVAL,), 0)


@pytest.mark.parametrize(("order", "outcome"), [(-1, TickOutcome.PRODUCED), (1, TickOutcome.FORK_COLLISION)])
def test_since_hardfork_12_the_heavier_branch_decides(order: int, outcome: TickOutcome) -> None:
    rivals = (Rival(RIVAL, OTHER, ALICE, order),)

    assert look(facts=FACTS._replace(rivals=rivals)).outcome is outcome
    assert look(facts=FACTS._replace(rivals=rivals, is_hardfork12=False)).outcome is TickOutcome.FORK_COLLISION


@pytest.mark.parametrize(
    "rival", [Rival(RIVAL, HEAD, ALICE, 0), Rival(RIVAL, OTHER, OURS, 0)], ids=["on our head", "of our validator"]
)
def test_a_block_on_our_head_or_of_our_validator_is_no_collision_but_in_an_emergency(rival: Rival) -> None:
    facts = FACTS._replace(rivals=(rival,))

    assert look(facts=facts).outcome is TickOutcome.PRODUCED
    assert look(facts=facts._replace(is_emergency=True)).outcome is TickOutcome.FORK_COLLISION


# -- what others ask


@pytest.mark.parametrize(("aslot", "expected"), [(2, SLOT), (1, SLOT + 3), (0, SLOT + 6)])
def test_the_next_slot_of_ours_is_known_ahead(aslot: int, expected: int) -> None:
    held = frozenset([KEY.public])

    assert next_own_slot(FACTS._replace(aslot=aslot), HEAD_TIME, held) == Duty(expected, OURS)
    assert next_own_slot(FACTS._replace(aslot=aslot), HEAD_TIME, frozenset()) is None
