"""The plugin of pytest: its fixtures, and the log of the node in the report of a test that has failed.

pytest finds it by the entry point of the distribution, and nothing else imports it. What a chain needs is imported when
the first test asks for one.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ledgerd.testing.chain import DevChain
    from ledgerd.testing.fork import Fork

LOGGED = "log of the node"


class ChainOfSession:
    """The chain that the tests of this process share: started for the first of them, ended with the last."""

    def __init__(self) -> None:
        self._chain: DevChain | None = None
        self._log_start = 0

    def get(self) -> DevChain:
        """The chain, or a new one where its node has ended."""
        if self._chain is None or not self._chain.is_running:
            self.close()
            self._chain = _started()
        return self._chain

    def begin_test(self) -> None:
        self._log_start = 0 if self._chain is None else self._chain.log_size()

    @property
    def log_of_test(self) -> str:
        return "" if self._chain is None else self._chain.log_since(self._log_start)

    def close(self) -> None:
        if self._chain is not None:
            self._chain.close()
            self._chain, self._log_start = None, 0


def _started() -> DevChain:
    """A chain; while its node starts, this process imports what it needs itself. Most runs of pytest need neither."""
    from ledgerd.testing.running.process import new_node  # noqa: PLC0415

    process = new_node()
    from ledgerd.testing.chain import DevChain  # noqa: PLC0415

    return DevChain.of(process)


SESSION = pytest.StashKey[ChainOfSession]()


@pytest.hookimpl
def pytest_configure(config: pytest.Config) -> None:
    config.stash[SESSION] = ChainOfSession()


@pytest.hookimpl
def pytest_unconfigure(config: pytest.Config) -> None:
    """End the node: the last that happens in a run, also in one that was interrupted."""
    config.stash[SESSION].close()


@pytest.hookimpl
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.config.stash[SESSION].begin_test()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and session_chain.__name__ in getattr(item, "fixturenames", ()):
        report.sections.extend((title, log) for title, log in _logs(item) if log)
    return report


def _logs(item: pytest.Item) -> Iterator[tuple[str, str]]:
    yield LOGGED, item.config.stash[SESSION].log_of_test
    made: Fork | None = getattr(item, "funcargs", {}).get(fork.__name__)
    if made is not None:
        yield f"{LOGGED} on the left", made.left.log_since()
        yield f"{LOGGED} on the right", made.right.log_since()


@pytest.fixture(scope="session")
def session_chain(pytestconfig: pytest.Config) -> DevChain:
    """The chain that all tests of this process share, without a snapshot: for fixtures of a module or a session.

    Such a fixture undoes what it did: `with session_chain.snapshot(): ...; yield`. Tests use `chain`.
    """
    return pytestconfig.stash[SESSION].get()


@pytest.fixture
def chain(pytestconfig: pytest.Config, session_chain: DevChain) -> Iterator[DevChain]:  # noqa: ARG001 - it is set up first
    """A chain of this test's own: accounts with keys, a block with each transaction, time that can be moved.
    All that the test does to it is undone in milliseconds.

    Clients in any language reach it at `chain.url` and `chain.websocket_url`.

        def test_bob_gets_what_alice_sends(chain):
            chain.transfer("alice", "bob", "1.000 VIZ")
            assert chain.balance("bob") == "10001.000 VIZ"
    """
    with pytestconfig.stash[SESSION].get().isolated() as isolated:
        yield isolated


@pytest.fixture
def fork(chain: DevChain) -> Iterator[Fork]:
    """Two nodes that go on from `chain`, `fork.left` and `fork.right`: each has blocks of its own until they join.

    They take two seconds to start.

        def test_what_bob_was_sent_is_undone(fork):
            fork.left.transfer("alice", "bob", "1.000 VIZ")
            fork.right.produce(2)
            fork.join()
            assert fork.left.balance("bob") == "10000.000 VIZ"
    """
    with chain.fork() as made:
        yield made
