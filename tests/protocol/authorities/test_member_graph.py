"""Accounts and what they bring to others, as numbers."""

from __future__ import annotations

from ledgerd.protocol.authorities.member_graph import FULL, LANE, MemberGraph, places
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import AccountName

A, B, C, D = map(AccountName, "abcd")


def lane(graph: MemberGraph, lanes: int, name: AccountName) -> int:
    place = graph.bit(name).bit_length() - 1
    return lanes >> place * LANE & (1 << LANE) - 1


def test_an_account_has_its_bit_for_ever_and_an_authority_the_bits_of_its_members() -> None:
    graph = MemberGraph()
    assert graph.bit(A) == graph.bit(A)
    members = graph.members(Authority(1, {B: 1, C: 1}, {}))
    assert members == graph.bit(B) | graph.bit(C)
    assert graph.names(members) == [B, C]
    assert graph.members(Authority(1, {}, {})) == 0


def test_members_are_chosen_in_the_order_of_their_authority_whenever_they_were_met() -> None:
    graph, many = MemberGraph(), [AccountName(f"m{place:03}") for place in range(100)]
    for name in reversed(many):
        graph.bit(name)
    authority = Authority(1, dict.fromkeys(many, 1), {})
    few = graph.bit(many[7]) | graph.bit(many[90])
    assert graph.chosen(few, authority) == [many[7], many[90]]
    assert graph.chosen(graph.members(authority), authority) == many


def test_what_an_account_brings_stands_in_the_lanes_of_its_owners() -> None:
    graph = MemberGraph()
    graph.row(A, Authority(1, {C: 7, D: 0}, {}))
    before = graph.column(C)
    graph.row(B, Authority(1, {C: 65_535}, {}))

    assert before is graph.column(C)
    assert (lane(graph, before.weights, A), lane(graph, before.weights, B)) == (7, 65_535)
    assert before.owners == graph.bit(A) | graph.bit(B)
    assert (graph.column(D).weights, graph.column(D).owners) == (0, graph.bit(A))


def test_a_new_authority_takes_the_place_of_the_one_before() -> None:
    graph = MemberGraph()
    graph.row(A, Authority(1, {C: 7}, {}))
    column = graph.column(C)
    again = Authority(1, {C: 7}, {})
    row = graph.row(A, again)

    assert graph.row(A, again) is row
    assert (column.weights, column.owners) == (7 << row.shift, row.bit)
    graph.row(A, Authority(1, {B: 1}, {}))
    assert (column.weights, column.owners) == (0, 0)
    assert graph.column(B).owners == row.bit


def test_the_lanes_that_become_full_are_told_by_name() -> None:
    graph = MemberGraph()
    rows = [graph.row(name, Authority(2, {D: 1}, {})) for name in (A, B)]
    lanes = sum(FULL - lacking << row.shift for row, lacking in zip(rows, (1, 2), strict=True))
    later = lanes + graph.column(D).weights

    assert graph.names(later & ~lanes & graph.full, LANE) == [A]


def test_it_is_large_when_very_many_members_are_remembered() -> None:
    graph, members = MemberGraph(), {AccountName(f"n{place}"): 1 for place in range(1_000)}
    while not graph.is_large:
        graph.row(A, Authority(1, members, {}))
    assert graph.is_large
    assert len(graph.bits) < 1_100


def test_the_places_of_bits_are_told_from_the_lowest_on() -> None:
    assert list(places(0b10110)) == [1, 2, 4]
    assert list(places(0)) == []
