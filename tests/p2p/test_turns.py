"""Who is heard next when many speak at once."""

from __future__ import annotations

from collections import Counter

from ledgerd.p2p.shared.allowances import Allowance
from ledgerd.p2p.turns import SHARE_SECONDS, Turns


def test_a_flood_of_dear_messages_delays_those_who_send_it() -> None:
    turns, flood, honest = Turns[int](), Allowance(0), Allowance(0)
    heard: Counter[int] = Counter()
    for connection in range(10):
        turns.wait(connection, flood, is_block=False)
    turns.wait(99, honest, is_block=False)
    for _ in range(1_000):
        peer = turns.next()
        assert peer is not None
        heard[peer] += 1
        turns.charge(peer, 0.001 if peer == 99 else SHARE_SECONDS)
    assert heard[99] > 900


def test_among_equals_blocks_come_first() -> None:
    turns = Turns[int]()
    turns.wait(1, Allowance(0), is_block=False)
    turns.wait(2, Allowance(0), is_block=True)
    assert turns.next() == 2
    turns.leave(2)
    assert turns.next() == 1


def test_blocks_do_not_shut_transactions_out() -> None:
    turns = Turns[int]()
    turns.wait(1, Allowance(0), is_block=False)
    turns.wait(2, Allowance(0), is_block=True)
    turns.charge(2, 2 * SHARE_SECONDS)
    assert turns.next() == 1


def test_who_was_silent_has_saved_nothing_up() -> None:
    turns, busy, late = Turns[int](), Allowance(0), Allowance(0)
    turns.wait(1, busy, is_block=False)
    for _ in range(100):
        assert turns.next() == 1
        turns.charge(1, SHARE_SECONDS)
    turns.wait(2, late, is_block=False)
    assert late.spent > 98 * SHARE_SECONDS


def test_nobody_waits_at_first_and_after_all_have_left() -> None:
    turns = Turns[int]()
    assert turns.next() is None
    turns.wait(1, Allowance(0), is_block=True)
    assert 1 in turns
    turns.leave(1)
    assert turns.next() is None
    assert len(turns) == 0


def test_what_is_useful_is_not_charged() -> None:
    turns, honest, hostile = Turns[int](), Allowance(0), Allowance(0)
    turns.wait(1, hostile, is_block=False)
    turns.wait(2, honest, is_block=False)
    heard: Counter[int] = Counter()
    for _ in range(200):
        peer = turns.next()
        assert peer is not None
        heard[peer] += 1
        if peer == 2:
            honest.useful += 1
        turns.charge(peer, 10 * SHARE_SECONDS if peer == 2 else 2 * SHARE_SECONDS)
    assert heard[2] > 150
    assert honest.spent < hostile.spent


def test_what_is_of_no_use_is_charged_to_whoever_was_useful_before() -> None:
    turns, once = Turns[int](), Allowance(0)
    once.useful = 7
    turns.wait(1, once, is_block=True)
    turns.next()
    turns.charge(1, SHARE_SECONDS)
    assert once.spent == SHARE_SECONDS
