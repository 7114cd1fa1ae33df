"""Which connection is closed for a new one at the limits."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from ledgerd.rpc.http.places.connection_table import Activity, ConnectionTable, PlaceCheck


@dataclass(eq=False)
class Seat:
    charged: str
    activity: Activity = Activity.WAITING


def filled(places: ConnectionTable[Seat], *seats: Seat) -> ConnectionTable[Seat]:
    for each in seats:
        places.add(each)
    return places


def test_without_limits_there_is_always_room() -> None:
    places = filled(ConnectionTable(0, 0), *(Seat("a") for _ in range(50)))

    assert places.check("a") == PlaceCheck(is_within=True)


def test_what_does_nothing_gives_way_before_what_sends() -> None:
    busy, sending, idle = Seat("a"), Seat("a", Activity.SENDING), Seat("a", Activity.IDLE)
    places = filled(ConnectionTable(0, 3), busy, sending, idle)

    for evicted in (idle, sending):
        assert places.check("a") == PlaceCheck(True, evicted, "webserver-max-connections-per-address")
        assert places.remove(evicted)
        places.add(Seat("a"))
    assert places.check("a") == PlaceCheck(False, None, "webserver-max-connections-per-address")
    assert places.check("b").is_within


def test_when_all_are_busy_the_address_with_the_most_gives_way_to_one_with_fewer() -> None:
    crowd = [Seat("a") for _ in range(5)]
    places = filled(ConnectionTable(7, 0), Seat("b"), *crowd, Seat("b"))

    assert places.check("c") == PlaceCheck(True, crowd[0], "webserver-max-connections")
    assert places.check("b").evicted is crowd[0]
    assert not places.check("a").is_within


def test_connections_that_many_clients_share_do_not_give_way_while_they_are_busy() -> None:
    places = filled(ConnectionTable(3, 1), *(Seat("") for _ in range(3)))

    assert not places.check("a").is_within
    assert places.check("").option == "webserver-max-connections"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(Activity)), max_size=60))
def test_there_are_never_more_than_the_limits_say(comers: list[tuple[str, Activity]]) -> None:
    places: ConnectionTable[Seat] = ConnectionTable(10, 4)

    for address, activity in comers:
        room = places.check(address)
        if room.evicted is not None:
            assert places.remove(room.evicted)
        if room.is_within:
            places.add(Seat(address, activity))
        assert len(places.all) <= 10
        assert all(sum(each.charged == name for each in places.all) <= 4 for name in "abc")


def test_the_crowdest_is_the_oldest_of_the_address_with_the_most() -> None:
    seats = [Seat("b"), Seat("a"), Seat("a")]
    places = filled(ConnectionTable(0, 0), *seats)

    assert places.oldest_of_largest() is seats[1]
    assert not places.remove(Seat("a"))
