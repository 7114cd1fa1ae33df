"""The guard of validators, decision by decision (spec 06, section 11), in virtual time."""

from __future__ import annotations

import pytest

from ledgerd.producer.guard import AppliedBlock, DeclaredValidator, Guard, GuardFacts, Update
from ledgerd.producer.settings import GuardSettings, Watched
from ledgerd.protocol.crypto.keys import NULL_KEY, PrivateKey, PublicKey
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.protocol.types.names import AccountName

SIGNING, ACTIVE = PrivateKey(b"\1" * 32), PrivateKey(b"\2" * 32)
OURS, ALSO, OTHER = AccountName("ours"), AccountName("also"), AccountName("other")
NOW = 1_800_000_000
SENT = TransactionId(b"t" * 20)

WATCHED = {OURS: Watched(SIGNING, ACTIVE), ALSO: Watched(SIGNING, ACTIVE)}
SETTINGS = GuardSettings(watched={OURS: WATCHED[OURS]})


def facts(key: PublicKey = SIGNING.public, **others: object) -> GuardFacts:
    known = dict.fromkeys(WATCHED, DeclaredValidator("https://ours", key))
    active = dict.fromkeys(WATCHED, frozenset([ACTIVE.public]))
    given: dict[str, object] = {
        "head_number": 1000,
        "head_time": NOW,
        "irreversible_time": NOW - 45,
        "is_emergency": False,
        "participation": 10_000,
        "validators": known,
        "next_producers": (OTHER,) * 3,
        "active_keys": active,
        **others,
    }
    return GuardFacts(**given)  # type: ignore[arg-type]  # each test names the facts that matter to it


def block(number: int, producer: AccountName = OTHER, time: int = NOW, *ids: TransactionId) -> AppliedBlock:
    return AppliedBlock(number, time, producer, frozenset(ids))


def guard(settings: GuardSettings = SETTINGS, state: GuardFacts | None = None) -> Guard:
    made = Guard(settings)
    made.begin(NOW, state or facts())
    made.drain_lines()
    return made


def said(watcher: Guard) -> str:
    return "\n".join(line.text for line in watcher.drain_lines())


RESTORED = [Update(OURS, "https://ours", SIGNING.public, NOW + 30)]


# -- the start


def test_an_account_that_is_not_there_is_not_watched() -> None:
    watcher = Guard(SETTINGS)

    assert watcher.begin(NOW, facts(NULL_KEY, active_keys={})) == []
    assert "'ours' is no account of this chain" in said(watcher)
    assert watcher.on_block(NOW, facts(NULL_KEY), block(20)) == []


def test_a_wrong_active_key_is_told_by_its_public_half() -> None:
    watcher = Guard(SETTINGS)

    watcher.begin(NOW, facts(active_keys={OURS: frozenset([SIGNING.public])}))

    text = said(watcher)
    assert "is no active key of 'ours'" in text
    assert ACTIVE.wif not in text + repr(SETTINGS)


def test_a_key_that_is_gone_is_given_back_at_once() -> None:
    watcher = Guard(SETTINGS)

    assert watcher.begin(NOW, facts(NULL_KEY)) == RESTORED
    assert "validator_guard: 'ours' has null signing key on-chain" in said(watcher)


# -- in sync


@pytest.mark.parametrize(
    ("others", "is_trusted"),
    [
        ({"head_time": NOW - 6}, True),
        ({"head_time": NOW - 7}, False),
        ({"irreversible_time": NOW - 200}, True),
        ({"irreversible_time": NOW - 201}, False),
        ({"irreversible_time": None}, True),
    ],
)
def test_a_node_that_is_behind_touches_no_key(others: dict[str, object], is_trusted: bool) -> None:
    assert (Guard(SETTINGS).begin(NOW, facts(NULL_KEY, **others)) == RESTORED) is is_trusted


def test_stale_production_holds_the_guard_back_until_the_network_is_healthy() -> None:
    watcher = Guard(GuardSettings(watched={OURS: WATCHED[OURS]}, allows_stale=True))

    assert watcher.begin(NOW, facts(NULL_KEY, participation=3299)) == []
    assert watcher.on_block(NOW, facts(NULL_KEY, participation=3300), block(10)) == RESTORED
    watcher.on_block(NOW, facts(), block(20))
    assert watcher.on_block(NOW, facts(NULL_KEY, participation=100), block(40)) == RESTORED


def test_in_an_emergency_stale_production_does_not_hold_the_guard_back() -> None:
    watcher = Guard(GuardSettings(watched={OURS: WATCHED[OURS]}, allows_stale=True))

    assert watcher.begin(NOW, facts(NULL_KEY, participation=100, is_emergency=True)) == RESTORED


# -- when it looks


def test_it_looks_every_interval_and_when_a_slot_of_ours_is_near() -> None:
    watcher = guard()

    gone = facts(NULL_KEY)
    assert watcher.on_block(NOW, gone, block(1001)) == []
    assert watcher.on_block(NOW, facts(NULL_KEY, next_producers=(OTHER, OTHER, OURS)), block(1001)) == RESTORED
    assert guard().on_block(NOW, gone, block(1020)) == RESTORED


def test_before_it_is_in_sync_it_looks_every_ten_blocks() -> None:
    behind = facts(head_time=NOW - 100)
    soon = facts(NULL_KEY, next_producers=(OURS,) * 3)

    assert guard(state=behind).on_block(NOW, soon, block(1011)) == []
    assert guard(state=behind).on_block(NOW, soon, block(1010)) == RESTORED


def test_a_pending_restoration_is_not_sent_again_before_it_expires() -> None:
    watcher, gone = guard(state=facts(NULL_KEY)), facts(NULL_KEY)

    assert watcher.on_block(NOW + 30, facts(NULL_KEY, head_time=NOW + 30), block(1020)) == []
    later = NOW + 31
    again = watcher.on_block(later, gone._replace(head_time=later), block(1040, time=later))
    assert again == [Update(OURS, "https://ours", SIGNING.public, later + 30)]


def test_a_restoration_that_is_refused_is_tried_at_the_next_look() -> None:
    watcher = guard(state=facts(NULL_KEY))

    watcher.was_refused(RESTORED[0], "missing required active authority")

    assert "the update of 'ours' is refused: missing required active authority" in said(watcher)
    assert watcher.on_block(NOW, facts(NULL_KEY), block(1020)) == RESTORED


def test_a_restoration_in_a_block_is_confirmed_once() -> None:
    watcher = guard(state=facts(NULL_KEY))
    watcher.was_sent(RESTORED[0], SENT)

    watcher.on_block(NOW, facts(), block(1001, OTHER, NOW, SENT))
    assert said(watcher) == f"validator_guard: CONFIRMED restoration for 'ours' in block #1001 [TX: {SENT.hex()}]"
    watcher.on_block(NOW, facts(), block(1002, OTHER, NOW, SENT))
    assert said(watcher) == ""


# -- blocks in a row


def in_a_row(watcher: Guard, count: int, state: GuardFacts | None = None, producer: AccountName = OURS) -> list[Update]:
    return [
        update for n in range(count) for update in watcher.on_block(NOW, state or facts(), block(1001 + n, producer))
    ]


RETIRED = [Update(OURS, "https://ours", NULL_KEY, NOW + 30)]


def test_a_validator_that_is_alone_is_switched_off() -> None:
    watcher = guard()

    assert in_a_row(watcher, 4) == []
    assert in_a_row(watcher, 1) == RETIRED
    assert "'ours' made 5 blocks in a row, and is switched off" in said(watcher)
    assert in_a_row(watcher, 3) == []


@pytest.mark.parametrize("between", [OTHER, ALSO])
def test_a_block_of_another_validator_ends_the_count_of_blocks_in_a_row(between: AccountName) -> None:
    watcher = guard(GuardSettings(watched=WATCHED))
    in_a_row(watcher, 4)
    in_a_row(watcher, 1, producer=between)

    assert in_a_row(watcher, 4) == []


def test_zero_switches_nobody_off() -> None:
    assert in_a_row(guard(GuardSettings(watched=WATCHED, disable=0)), 15) == []


def test_neither_a_network_of_one_nor_old_blocks_switch_anybody_off() -> None:
    assert in_a_row(guard(), 15, facts(is_network_of_one=True)) == []

    watcher = guard()
    old = [watcher.on_block(NOW, facts(), block(1001 + n, OURS, NOW - 31)) for n in range(15)]
    assert old == [[]] * 15


def test_who_was_switched_off_is_given_the_key_back_until_the_limit() -> None:
    """On a fork that nobody else is on, the validator is switched off for good the third time."""
    watcher, gone = guard(), facts(NULL_KEY)
    for _ in range(2):
        assert in_a_row(watcher, 5) == RETIRED
        assert watcher.on_block(NOW, gone, block(1020, OURS)) == RESTORED
        watcher.on_block(NOW, facts(), block(1040, OURS))
        watcher.records[OURS].in_a_row = 0
    assert in_a_row(watcher, 5) == RETIRED
    assert "for the last time of 3: it stays off" in said(watcher)

    for number in (1020, 1040, 1060):
        assert watcher.on_block(NOW, gone, block(number, OURS)) == []


def test_a_limit_of_zero_never_keeps_anybody_off() -> None:
    watcher = guard(GuardSettings(watched={OURS: WATCHED[OURS]}, disable_max=0))
    for _ in range(7):
        assert in_a_row(watcher, 5) == RETIRED
        assert watcher.on_block(NOW, facts(NULL_KEY), block(1020, OURS)) == RESTORED
        watcher.on_block(NOW, facts(), block(1040, OURS))
        watcher.records[OURS].in_a_row = 0


def test_blocks_of_others_end_the_count_of_times() -> None:
    watcher = guard()
    for _ in range(5):
        assert in_a_row(watcher, 5) == RETIRED
        assert watcher.on_block(NOW, facts(NULL_KEY), block(1020, OURS)) == RESTORED
        watcher.on_block(NOW, facts(), block(1041))
        watcher.on_block(NOW, facts(), block(1060))


def test_who_was_switched_on_by_hand_is_watched_again() -> None:
    watcher = guard(GuardSettings(watched={OURS: WATCHED[OURS]}, disable_max=1))
    in_a_row(watcher, 5)
    later = facts(head_time=NOW + 40, irreversible_time=NOW)
    watcher.on_block(NOW + 40, later, block(1020, OTHER, NOW + 40))

    assert not watcher.records[OURS].is_off
    gone = later._replace(validators={OURS: DeclaredValidator("https://ours", NULL_KEY)})
    assert [update.key for update in watcher.on_block(NOW + 40, gone, block(1040, OTHER, NOW + 40))] == [SIGNING.public]


# -- the end


def test_a_stop_switches_off_who_has_a_key() -> None:
    watcher = guard(GuardSettings(watched=WATCHED))
    one_gone = {
        OURS: DeclaredValidator("https://ours", SIGNING.public),
        ALSO: DeclaredValidator("https://also", NULL_KEY),
    }

    updates = watcher.on_shutdown(NOW, facts(validators=one_gone))

    assert updates == [Update(OURS, "https://ours", NULL_KEY, NOW + 130)]
    assert guard(GuardSettings(watched=WATCHED, disable_on_shutdown=False)).on_shutdown(NOW, facts()) == []
