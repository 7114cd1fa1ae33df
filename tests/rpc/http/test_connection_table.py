"""Who gives way to whom, when there are too many connections."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from ledgerd.rpc.http.connection_table import Doing, Places, Room


@dataclass(eq=False)
class Seat:
    charged: str
    doing: Doing = Doing.WAITING


def filled(places: Places[Seat], *seats: Seat) -> Places[Seat]:
    for each in seats:
        places.enter(each)
    return places


def test_without_limits_there_is_always_room() -> None:
    places = filled(Places(0, 0), *(Seat("a") for _ in range(50)))

    assert places.room_for("a") == Room(is_there=True)


def test_what_does_nothing_gives_way_before_what_sends() -> None:
    busy, sending, idle = Seat("a"), Seat("a", Doing.SENDING), Seat("a", Doing.NOTHING)
    places = filled(Places(0, 3), busy, sending, idle)

    for leaving in (idle, sending):
        assert places.room_for("a") == Room(True, leaving, "webserver-max-connections-per-address")
        assert places.leave(leaving)
        places.enter(Seat("a"))
    assert places.room_for("a") == Room(False, None, "webserver-max-connections-per-address")
    assert places.room_for("b").is_there


def test_when_all_are_busy_the_address_with_the_most_gives_way_to_one_with_fewer() -> None:
    crowd = [Seat("a") for _ in range(5)]
    places = filled(Places(7, 0), Seat("b"), *crowd, Seat("b"))

    assert places.room_for("c") == Room(True, crowd[0], "webserver-max-connections")
    assert places.room_for("b").leaving is crowd[0]
    assert not places.room_for("a").is_there


def test_connections_that_many_clients_share_do_not_give_way_while_they_are_busy() -> None:
    places = filled(Places(3, 1), *(Seat("") for _ in range(3)))

    assert not places.room_for("a").is_there
    assert places.room_for("").option == "webserver-max-connections"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(Doing)), max_size=60))
def test_there_are_never_more_than_the_limits_say(comers: list[tuple[str, Doing]]) -> None:
    places: Places[Seat] = Places(10, 4)

    for address, doing in comers:
        room = places.room_for(address)
        if room.leaving is not None:
            assert places.leave(room.leaving)
        if room.is_there:
            places.enter(Seat(address, doing))
        assert len(places.all) <= 10
        assert all(sum(each.charged == name for each in places.all) <= 4 for name in "abc")


def test_the_crowdest_is_the_oldest_of_the_address_with_the_most() -> None:
    seats = [Seat("b"), Seat("a"), Seat("a")]
    places = filled(Places(0, 0), *seats)

    assert places.crowdest() is seats[1]
    assert not places.leave(Seat("a"))
