"""Whom a node lets in, whom it dials and when again, and what it tells and believes of others (spec 04, 6, 16, 27)."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from ledgerd.basics import addresses
from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.talk.contacts import CONTACTS
from ledgerd.p2p.wire import endpoints
from ledgerd.p2p.wire.endpoints import is_public, plain_address, subnet_of, wire_endpoint
from ledgerd.p2p.wire.messages import (
    NO_NODE,
    GetBlockRange,
    KnownPeer,
    NodeId,
    PeerExchangeRateLimited,
    PeerExchangeReply,
    PeerExchangeRequest,
    range_reply_frame,
)
from ledgerd.protocol.types.endpoint import Endpoint
from tests.chain.networks import Network
from tests.p2p.conftest import Begin
from tests.p2p.scripted_talk import OWN_ID, Talk

SEED = Endpoint("62.200.1.1", 2001)


def known(host: str, port: int = 2001, node: NodeId = NO_NODE) -> KnownPeer:
    endpoint = wire_endpoint(Endpoint(host, port))
    assert endpoint is not None
    return KnownPeer(endpoint, node)


def dial(talk: Talk, endpoint: Endpoint) -> int:
    """The connection that our node asks for stands; its id."""
    peer = next(peer for peer, asked in talk.dialled.items() if asked == endpoint)
    talk.network.connected(talk.now, peer, endpoint.host)
    talk.say(peer, talk.hello(peer))
    return peer


def believed(talk: Talk) -> set[str]:
    return {contact.endpoint.host for contact in talk.network.contacts.all()}


# -- coming in


def test_inbound_connections_of_an_address_and_of_a_subnet_are_limited(talk_with: Begin) -> None:
    talk = talk_with(Settings(max_per_address=2, max_per_subnet=3))
    assert [talk.accept("62.1.1.1") is None for _ in range(3)] == [False, False, True]
    assert [talk.accept("62.1.1.2") is None for _ in range(2)] == [False, True]
    assert talk.accept("62.1.2.1") is not None


def test_connections_are_reserved_for_outbound_ones(talk_with: Begin) -> None:
    talk = talk_with(Settings(max_connections=20, reserved_outbound=8, seeds=(SEED,)))
    came = [talk.accept() for _ in range(20)]
    assert sum(peer is not None for peer in came) == 15
    assert talk.accept(SEED.host) is not None


def test_a_node_of_its_own_network_is_not_counted_by_address(talk: Talk) -> None:
    assert all(talk.accept("127.0.0.1") is not None for _ in range(12))


def test_a_newcomer_who_finds_no_place_costs_no_look_at_the_addresses_of_all_who_have_one(
    talk_with: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address takes microseconds to parse: of a thousand peers, for each newcomer, that kept it busy."""
    parsed: list[str] = []

    def count(host: str) -> object:
        parsed.append(host)
        return ip_address(host)

    talk = talk_with(Settings(max_connections=100, reserved_outbound=0))
    while talk.accept() is not None:
        pass
    for module in (addresses, endpoints):
        monkeypatch.setattr(module, "ip_address", count)
    assert talk.accept("63.1.1.1") is None
    assert len(parsed) < 10


def test_an_isolated_node_lets_only_seeds_in(talk_with: Begin) -> None:
    talk = talk_with(Settings(is_isolated=True, seeds=(SEED,)))
    assert talk.accept("62.1.1.1") is None
    assert talk.accept(SEED.host) is not None


# -- going out


def test_seeds_are_dialled_and_dialled_again_after_a_while(talk_with: Begin) -> None:
    talk = talk_with(Settings(seeds=(SEED,)))
    talk.wait(5)
    (peer,) = talk.dialled
    talk.network.lost(talk.now, peer)
    talk.wait(25)
    assert len(talk.dialled) == 1
    talk.wait(10)
    assert len(talk.dialled) == 2


def test_the_back_off_doubles_up_to_an_hour(talk_with: Begin) -> None:
    talk = talk_with(Settings(seeds=(SEED,)))
    (contact,) = talk.network.contacts.all()
    waits = []
    for _ in range(9):
        contact.ended(10, talk.now, talk.network.core.random)
        waits.append(contact.backoff)
        assert 0.75 * contact.backoff <= contact.next_attempt - talk.now < 1.25 * contact.backoff
    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
    contact.ended(301, talk.now, talk.network.core.random)
    assert contact.backoff == 60


def test_a_dial_has_a_deadline(talk_with: Begin) -> None:
    talk = talk_with(Settings(seeds=(SEED,)))
    talk.wait(15)
    assert set(talk.closed) == set(talk.dialled)


# -- telling and being told


def test_peers_are_told_whom_we_dialled_and_kept(talk_with: Begin) -> None:
    talk = talk_with(Settings(seeds=(SEED,), peer_exchange_min_uptime_sec=0))
    talk.wait(5)
    dial(talk, SEED)
    peer = talk.meet()
    node = talk.network.core.peers()[0].node_id
    assert talk.say(peer, PeerExchangeRequest()) == [PeerExchangeReply((known(SEED.host, node=node),))]


def test_the_fourth_peer_request_in_a_window_is_refused(talk: Talk) -> None:
    peer = talk.meet()
    assert talk.say(peer, *[PeerExchangeRequest()] * 3) == [PeerExchangeReply(())] * 3
    talk.now += 59
    assert talk.say(peer, PeerExchangeRequest()) == [PeerExchangeRateLimited(241)]
    talk.now += 241
    assert talk.say(peer, PeerExchangeRequest()) == [PeerExchangeReply(())]


def ask(talk: Talk, host: str = "") -> int:
    """A peer that has been asked for its list."""
    peer = talk.meet(host)
    while PeerExchangeRequest() not in talk.sent[peer]:
        talk.wait(5)
    return peer


def test_a_list_is_believed_only_when_asked_for_and_once(talk: Talk) -> None:
    talk.say(talk.meet(), PeerExchangeReply((known("62.5.5.5"),)))
    assert believed(talk) == set()
    talk.network.lost(talk.now, 1)
    peer = ask(talk)
    talk.say(peer, PeerExchangeReply((known("62.5.5.5"),)), PeerExchangeReply((known("62.6.6.6"),)))
    assert believed(talk) == {"62.5.5.5"}
    talk.wait(5)
    assert Endpoint("62.5.5.5", 2001) in talk.dialled.values()


def test_what_cannot_be_a_peer_is_not_believed(talk: Talk) -> None:
    hosts = ("10.1.1.1", "127.0.0.1", "0.0.0.7", "255.255.255.255", "224.0.0.1", "192.168.1.1")
    entries = (*map(known, hosts), known("62.5.5.5", port=0), known("62.5.5.6", node=OWN_ID), known("62.7.7.7"))
    talk.say(ask(talk), PeerExchangeReply(entries))
    assert believed(talk) == {"62.7.7.7"}


def test_private_addresses_are_accepted_from_private_peers_only(talk: Talk) -> None:
    talk.say(ask(talk, "10.0.0.7"), PeerExchangeReply((known("10.0.1.1"),)))
    assert believed(talk) == {"10.0.1.1"}


def test_a_peer_list_is_limited_in_length_and_by_subnet(talk: Talk) -> None:
    crowd = tuple(known(f"62.5.5.{number}") for number in range(1, 10))
    many = tuple(known(f"62.100.{number}.1") for number in range(200))
    talk.say(ask(talk), PeerExchangeReply((*crowd, *many)))
    assert sum(host.startswith("62.5.5.") for host in believed(talk)) == 2
    assert len(believed(talk)) <= 20


def test_contacts_are_bounded(talk: Talk) -> None:
    contacts = talk.network.contacts
    for number in range(1000):
        contacts.add(Endpoint(f"62.{number % 250}.{number // 250}.1", 2001), NO_NODE, talk.now)
    assert len(contacts) == CONTACTS
    contacts.forget_lost(talk.now + 9 * 3600, 8)
    assert len(contacts) == 0


def test_addresses_have_one_spelling() -> None:
    assert plain_address("::ffff:62.1.2.3") == "62.1.2.3"
    assert plain_address("fe80::1%eth0") == "fe80::1"
    assert plain_address("seed.example.org") == "seed.example.org"
    assert subnet_of("62.1.2.3") == subnet_of("62.1.2.200") != subnet_of("62.1.3.3")
    assert subnet_of("2001:db8:1::1") == subnet_of("2001:db8:1:2::1") != subnet_of("2001:db8:2::1")
    assert is_public("62.1.2.3")
    assert not is_public("seed.example.org")
    assert str(Endpoint("2001:db8::1", 2001)) == "[2001:db8::1]:2001"
    assert wire_endpoint(Endpoint("2001:db8::1", 2001)) is None


# -- ranges from several


def test_ranges_are_asked_of_several_peers_at_once_and_applied_in_order(talk: Talk, others: Network) -> None:
    blocks = {block.number: block.packed for block in others.produce(700)}
    blocks[112] = talk.network.core.chain.read(112) or b""
    talk.now = others.chain.head_time + 3.0
    heights = {"head_block_num": 812, "head_block_id": others.chain.head_id, "dlt_latest_block": 812}
    asked: dict[int, GetBlockRange] = {}
    for _ in range(4):
        peer = talk.meet("", **heights)
        (asked[peer],) = (message for message in talk.sent[peer] if isinstance(message, GetBlockRange))
    spans = [(request.start_block_num, request.end_block_num) for request in asked.values()]
    assert spans == [(112, 311), (312, 511), (512, 711), (712, 812)]

    for peer, request in reversed(asked.items()):
        span = range(request.start_block_num, request.end_block_num + 1)
        talk.send_bytes(peer, range_reply_frame([blocks[number] for number in span], 0, is_last=span[-1] == 812))

    assert talk.chain.head_id == others.chain.head_id


def test_the_piece_of_a_disconnected_peer_is_requested_from_another(talk: Talk, others: Network) -> None:
    others.produce(300)
    talk.now = others.chain.head_time + 3.0
    heights = {"head_block_num": 412, "head_block_id": others.chain.head_id, "dlt_latest_block": 412}
    first, second = talk.meet("", **heights), talk.meet("", **heights)
    talk.network.lost(talk.now, first)
    packed = [others.chain.block_at(number).packed for number in range(312, 413)]  # type: ignore[union-attr]
    talk.send_bytes(second, range_reply_frame(packed, 0, is_last=True))
    requests = [message for message in talk.sent[second] if isinstance(message, GetBlockRange)]
    assert (requests[-1].start_block_num, requests[-1].end_block_num) in {(112, 311), (113, 311)}
