"""Bounds on those who are connected to a signer, and on how often they ask."""

from __future__ import annotations

from ledgerd.signer.clients import (
    BURST,
    KNOWN_ADDRESSES,
    MOST_CONNECTIONS,
    MOST_HANDSHAKES,
    MOST_HANDSHAKES_OF_ADDRESS,
    MOST_OF_CLIENT,
    QUESTIONS_A_SECOND,
    REMEMBERED,
    Clients,
)


class Line:
    """A connection that is closed, or not."""

    is_closed = False

    def close(self) -> None:
        self.is_closed = True


def test_the_oldest_connection_of_a_client_goes_for_a_new_one() -> None:
    clients, lines = Clients(), [Line() for _ in range(MOST_OF_CLIENT + 1)]

    assert all(clients.admit("a node", line) for line in lines)

    assert [line.is_closed for line in lines] == [True] + [False] * MOST_OF_CLIENT


def test_there_are_so_many_connections_and_one_that_ends_makes_room() -> None:
    clients, lines = Clients(), [Line() for _ in range(MOST_CONNECTIONS)]
    assert all(clients.admit(f"client {number // 2}", line) for number, line in enumerate(lines))
    assert not clients.admit("one more", Line())

    clients.leave(lines[0])
    assert clients.admit("one more", Line())

    clients.close_all()
    assert all(line.is_closed for line in lines[1:])


def test_an_address_shows_so_many_certificates_at_once_and_so_do_all() -> None:
    clients = Clients()
    assert all(clients.begin_handshake("192.0.2.1") for _ in range(MOST_HANDSHAKES_OF_ADDRESS))
    assert not clients.begin_handshake("192.0.2.1")
    assert clients.begin_handshake("192.0.2.2")

    clients.end_handshake("192.0.2.1")
    assert clients.begin_handshake("192.0.2.1")
    others = [clients.begin_handshake(f"198.51.100.{number}") for number in range(MOST_HANDSHAKES)]
    assert others.count(True) == MOST_HANDSHAKES - MOST_HANDSHAKES_OF_ADDRESS - 1


def test_an_address_that_showed_a_right_certificate_needs_no_place_of_strangers() -> None:
    clients = Clients()
    assert clients.begin_handshake("192.0.2.1")
    clients.end_handshake("192.0.2.1", is_right=True)
    assert all(clients.begin_handshake(f"198.51.100.{number}") for number in range(MOST_HANDSHAKES))
    assert not clients.begin_handshake("198.51.100.99")

    assert [clients.begin_handshake("192.0.2.1") for _ in range(5)].count(True) == MOST_HANDSHAKES_OF_ADDRESS


def test_so_many_addresses_are_known() -> None:
    clients = Clients()
    for number in range(KNOWN_ADDRESSES + 1):
        assert clients.begin_handshake(f"192.0.2.{number}")
        clients.end_handshake(f"192.0.2.{number}", is_right=True)
    assert all(clients.begin_handshake(f"198.51.100.{number}") for number in range(MOST_HANDSHAKES))

    assert not clients.begin_handshake("192.0.2.0")
    assert clients.begin_handshake("192.0.2.1")


def test_who_asks_too_often_waits_and_nobody_else() -> None:
    clients = Clients()
    assert [clients.wait_before("a", 0.0) for _ in range(int(BURST))] == [0.0] * int(BURST)

    wait = clients.wait_before("a", 0.0)

    assert wait == 1 / QUESTIONS_A_SECOND
    assert clients.wait_before("b", 0.0) == 0.0
    assert clients.wait_before("a", wait) == 0.0
    assert clients.wait_before("a", wait) > 0.0


def test_the_clients_that_are_remembered_are_bounded() -> None:
    clients = Clients()
    for number in range(REMEMBERED * 2):
        clients.wait_before(str(number), 0.0)
    assert len(clients._questions.kept) == REMEMBERED  # noqa: SLF001 - the bound is on what is kept inside
