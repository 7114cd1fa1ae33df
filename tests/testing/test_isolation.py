"""Each test finds the state with which the first one began, to the byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from ledgerd.testing.chain import DevChain
from ledgerd.testing.errors import RequestRefused
from tests.testing.digests import digest_of


class TestFailed(Exception):
    """A test that fails midway."""

    __test__ = False


def transfers(chain: DevChain) -> None:
    chain.transfer("alice", "bob", "1.000 VIZ")


def travels(chain: DevChain) -> None:
    chain.travel(days=5)
    chain.produce(300)


def makes_accounts_and_markets(chain: DevChain) -> None:
    carol = chain.new_account("carol", balance="10.000 VIZ")
    market = chain.market()
    market.bet(carol, "Yes", "1.000 VIZ")
    market.resolve("Yes")
    market.settle()


def is_refused(chain: DevChain) -> None:
    with suppress(RequestRefused):
        chain.transfer("alice", "bob", "99999999.000 VIZ")


def goes_back_by_itself(chain: DevChain) -> None:
    with chain.snapshot():
        transfers(chain)
    chain.produce()


def fails_midway(chain: DevChain) -> None:
    travels(chain)
    raise TestFailed


TESTS = (transfers, travels, makes_accounts_and_markets, is_refused, goes_back_by_itself, fails_midway)


@pytest.fixture
def settled(session_chain: DevChain) -> Iterator[DevChain]:
    """The chain as a fixture of a module may have changed it."""
    with session_chain.snapshot():
        session_chain.transfer("alice", "charlie", "3.000 VIZ")
        yield session_chain


@pytest.mark.parametrize("test", TESTS)
def test_whatever_a_test_does_is_undone(settled: DevChain, test: Callable[[DevChain], None]) -> None:
    with settled.isolated():
        before, head, accounts = digest_of(settled), settled.head, set(settled.accounts)

    with suppress(TestFailed), settled.isolated() as chain:
        test(chain)

    with settled.isolated():
        assert (digest_of(settled), settled.head, set(settled.accounts)) == (before, head, accounts)
        assert settled.balance("charlie") == "10003.000 VIZ"
        assert settled.call("database_api", "get_block", head.number + 1) is None


def test_tests_share_a_snapshot_until_something_changes_between_them(session_chain: DevChain) -> None:
    def number() -> int:
        """Of the next snapshot."""
        with session_chain.isolated() as chain:
            return chain.take_snapshot()

    with session_chain.snapshot():
        first = number()
        for test in (transfers, travels):
            with session_chain.isolated() as chain:
                test(chain)
        assert number() == first + 1

        session_chain.produce()
        assert number() == first + 3


def test_the_next_test_begins_at_the_same_time_of_the_chain(session_chain: DevChain) -> None:
    times = []
    for _ in range(2):
        with session_chain.isolated() as chain:
            times.append(chain.head.time)
            times.append(chain.produce().time)

    assert times[:2] == times[2:]
    assert times[1] == times[0] + 3
