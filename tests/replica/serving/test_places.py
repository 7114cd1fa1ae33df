"""Who gives way to whom at the server of replicas."""

from __future__ import annotations

from ledgerd.replica.serving.places import (
    KNOWN_ADDRESSES,
    MOST_REPLICAS,
    MOST_STRANGERS,
    MOST_STRANGERS_OF_ADDRESS,
    HeldPlace,
    ReplicaPlaces,
    StrangerPlaces,
)


def lost(places: list[HeldPlace]) -> list[bool]:
    return [each.lost.is_set() for each in places]


def test_of_an_address_the_oldest_stranger_gives_way() -> None:
    strangers = StrangerPlaces()
    other = strangers.enter("198.51.100.1")
    places = [strangers.enter("192.0.2.1") for _ in range(MOST_STRANGERS_OF_ADDRESS + 2)]
    assert lost(places) == [True, True] + [False] * MOST_STRANGERS_OF_ADDRESS
    assert not other.lost.is_set()


def test_where_there_are_too_many_the_address_with_most_gives_way() -> None:
    strangers = StrangerPlaces()
    single = strangers.enter("192.0.2.1")
    places = [strangers.enter(f"198.51.100.{number // 2}") for number in range(MOST_STRANGERS - 1)]
    newcomer = strangers.enter("192.0.2.2")
    assert lost(places) == [True] + [False] * (MOST_STRANGERS - 2)
    assert lost([single, newcomer]) == [False, False]


def test_a_newcomer_has_a_place_though_each_is_of_another_address() -> None:
    strangers = StrangerPlaces()
    places = [strangers.enter(f"198.51.100.{number}") for number in range(MOST_STRANGERS + 1)]
    assert lost(places) == [True] + [False] * MOST_STRANGERS


def test_who_has_left_makes_room() -> None:
    strangers = StrangerPlaces()
    places = [strangers.enter(f"198.51.100.{number}") for number in range(MOST_STRANGERS)]
    strangers.leave(places[3])
    strangers.leave(places[3])
    strangers.enter("192.0.2.1")
    assert not any(lost(places))


def test_strangers_take_no_place_of_an_address_that_has_shown_a_certificate() -> None:
    strangers = StrangerPlaces()
    strangers.remember("192.0.2.1")
    own = [strangers.enter("192.0.2.1") for _ in range(MOST_STRANGERS_OF_ADDRESS)]
    others = [strangers.enter(f"198.51.100.{number}") for number in range(2 * MOST_STRANGERS)]
    assert not any(lost(own))
    assert lost(others).count(False) == MOST_STRANGERS
    strangers.enter("192.0.2.1")
    assert lost(own) == [True] + [False] * (MOST_STRANGERS_OF_ADDRESS - 1)


def test_so_many_addresses_are_known_and_the_latest_stay() -> None:
    strangers = StrangerPlaces()
    for number in range(KNOWN_ADDRESSES):
        strangers.remember(f"192.0.2.{number}")
    strangers.remember("192.0.2.0")
    strangers.remember("203.0.113.1")
    first, second = strangers.enter("192.0.2.0"), strangers.enter("192.0.2.1")
    for number in range(2 * MOST_STRANGERS):
        strangers.enter(f"198.51.100.{number}")
    assert lost([first, second]) == [False, True]


def test_replicas_of_one_certificate_leave_a_place_for_another() -> None:
    replicas = ReplicaPlaces()
    places = [replicas.enter("certificate 1") for _ in range(MOST_REPLICAS)]
    assert replicas.enter("certificate 1") is None
    newcomer = replicas.enter("certificate 2")
    assert newcomer is not None
    assert lost([each for each in places if each]) == [False] * (MOST_REPLICAS - 1) + [True]


def test_a_replica_gives_way_to_nobody_that_would_have_as_many() -> None:
    replicas = ReplicaPlaces()
    places = [replicas.enter(f"certificate {number // 2}") for number in range(MOST_REPLICAS)]
    assert None not in places
    assert replicas.enter("certificate 0") is None
    third = replicas.enter("certificate of another")
    assert third is not None
    assert replicas.enter("certificate of another") is None
    replicas.leave(third)
    assert replicas.enter("certificate 0") is not None
