"""The chain of a test session: started once, and as it was before with each test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, Self

from ledgerd.testing.accounts import KnownAccounts, first_accounts
from ledgerd.testing.fork import Fork
from ledgerd.testing.node import ChainHead, ChainNode
from ledgerd.testing.running.process import NodeProcess, new_node


class Baseline(NamedTuple):
    """The chain that tests begin with."""

    snapshot: int
    head: ChainHead
    accounts: KnownAccounts


class DevChain(ChainNode):
    """A chain with one validator, whose head is irreversible."""

    _baseline: Baseline | None = None

    @classmethod
    def start(cls) -> Self:
        """Start a chain of its own; for tests without pytest: `with DevChain.start() as chain:`."""
        return cls.of(new_node())

    @classmethod
    def of(cls, process: NodeProcess) -> Self:
        """The chain of a new node, when that answers."""
        return cls(process, first_accounts())

    def fork(self) -> Fork:
        """Two nodes that go on from here, each with blocks of its own until they are joined: `with chain.fork() as
        fork:`. This chain stays as it is.
        """
        return Fork.of(self)

    @contextmanager
    def isolated(self) -> Iterator[Self]:
        """A snapshot for one test. All tests share it, as long as nothing changes the chain between two of them."""
        if self._baseline is None or self._baseline.head != self.head:
            self._baseline = self.take_baseline()
        baseline = self._baseline
        try:
            yield self
        finally:
            if self.is_running:
                self.revert(baseline.snapshot, baseline.accounts)
                self._baseline = baseline

    def take_baseline(self) -> Baseline:
        return Baseline(super().take_snapshot(), self.head, self.accounts.copy())

    def take_snapshot(self) -> int:
        """Take a snapshot. The one that tests began with lies below this one, which would be lost with the next return
        to that.
        """
        self._baseline = None
        return super().take_snapshot()

    def revert(self, number: int, accounts: KnownAccounts) -> None:
        super().revert(number, accounts)
        if self._baseline is not None and self._baseline.snapshot > number:
            self._baseline = None
