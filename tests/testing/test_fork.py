"""Two nodes with a common past, split and joined."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ledgerd.testing.chain import DevChain
from ledgerd.testing.errors import NoJoin
from ledgerd.testing.fork import Fork
from tests.testing.digests import OF_THE_STATE, digest_of


@pytest.fixture(scope="module")
def two_nodes(session_chain: DevChain) -> Iterator[Fork]:
    """One fork for all tests of this file; it takes two seconds to start."""
    with session_chain.snapshot():
        session_chain.new_account("carol", balance="5.000 VIZ")
        with session_chain.fork() as fork:
            yield fork


@pytest.fixture
def joined(two_nodes: Fork) -> Fork:
    """The two with the same head, whatever the test before has left."""
    longer = max((two_nodes.left, two_nodes.right), key=lambda side: side.head.number)
    if two_nodes.is_split:
        longer.produce(2)
        two_nodes.join()
    return two_nodes


def test_both_sides_begin_with_what_the_chain_had(joined: Fork, session_chain: DevChain) -> None:
    for side in (joined.left, joined.right):
        assert side.balance("carol") == "5.000 VIZ"
        assert side.accounts["carol"] == "carol"
        assert (
            side.call("database_api", "get_config")["CHAIN_ID"]
            == session_chain.call("database_api", "get_config")["CHAIN_ID"]
        )
        assert side.head.number - side.irreversible == 15
    assert not joined.is_split
    assert session_chain.head.number < joined.left.head.number


def test_a_block_of_both_is_made_and_what_markets_need_stays(joined: Fork) -> None:
    before = joined.left.head.number

    joined.produce(3)

    assert joined.right.head == joined.left.head
    assert joined.left.head.number == before + 3
    grace = [
        side.call("prediction_market_api", "get_pm_chain_properties")["pm_dispute_grace_sec"]
        for side in (joined.left, joined.right)
    ]
    assert grace == [3_600, 3_600]


def test_the_shorter_branch_is_undone_and_its_transactions_wait(joined: Fork) -> None:
    left, right = joined.left, joined.right
    had = int(left.balance("carol").partition(".")[0])
    left.transfer("alice", "carol", "1.000 VIZ", "on the left")
    right.transfer("alice", "carol", "2.000 VIZ", "on the right")
    right.produce(2)
    assert joined.is_split
    assert (left.balance("carol"), right.balance("carol")) == (f"{had + 1}.000 VIZ", f"{had + 2}.000 VIZ")

    joined.join()

    assert left.head == right.head
    assert right.balance("carol") == f"{had + 2}.000 VIZ"
    left.produce()
    assert left.balance("carol") == f"{had + 3}.000 VIZ"
    assert [fields["memo"] for name, fields in left.operations(left.head.number) if name == "transfer"] == [
        "on the left"
    ]


def test_a_side_goes_back_over_a_branch_that_it_has_left(joined: Fork) -> None:
    left, right = joined.left, joined.right
    with right.snapshot():
        before, head = digest_of(right, OF_THE_STATE), right.head
    with right.snapshot():
        right.transfer("alice", "bob", "1.000 VIZ")
        right.produce(2)
        left.produce(5)
        joined.join()
        assert right.head == left.head

    assert (digest_of(right, OF_THE_STATE), right.head) == (before, head)
    assert all(right.operations(number) for number in range(head.number - 20, head.number + 1))
    joined.join()
    assert right.head == left.head


def test_branches_of_one_length_are_not_joined(joined: Fork) -> None:
    joined.left.transfer("alice", "carol", "1.000 VIZ")
    joined.right.produce()

    with pytest.raises(NoJoin, match="the longer branch wins, by a block or more"):
        joined.join()
    joined.right.produce()
    joined.join()

    assert joined.left.head == joined.right.head


def test_one_side_may_be_ahead_in_time(joined: Fork) -> None:
    joined.left.travel(minutes=19)
    joined.left.produce()

    joined.join()

    assert joined.right.head == joined.left.head


def test_what_is_irreversible_on_one_side_is_not_undone(fork: Fork) -> None:
    fork.left.produce(17)
    fork.right.transfer("alice", "bob", "1.000 VIZ")
    fork.right.produce(17)

    with pytest.raises(NoJoin, match=f"the last that is there: {fork.left.irreversible}"):
        fork.join()
    assert fork.left.balance("bob") == "10000.000 VIZ"
