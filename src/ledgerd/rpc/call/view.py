"""What an API method sees of the node: the state of the last commit, the network, and whom to ask for the rest.

Method modules get everything through these two classes, so they can be tested with a store in memory's place.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from copy import copy
from typing import Protocol, TypeVar

from ledgerd.protocol.parameters import ChainParameters
from ledgerd.rpc.call.bounds import Budget
from ledgerd.rpc.call.errors import PlainError
from ledgerd.state.view import View

S = TypeVar("S")

Reading = Callable[[], AbstractContextManager[View]]
"""Opens the state of the last commit, for as long as the block lasts."""


def nothing_to_read() -> AbstractContextManager[View]:
    """The `Reading` of a worker without a state."""
    raise PlainError("The node has no state")


class MainProcess(Protocol):
    """The process that writes the chain, as an API method reaches it; topics are agreed on with the node."""

    async def ask(self, topic: str, payload: bytes) -> bytes:
        """Send a request. Raises the `RuleViolation` that it was refused with, or `Unreachable`."""
        ...

    def events(self, topic: str) -> AsyncGenerator[bytes, None]:
        """Everything that happens under a topic from this call on, also because of what is asked after it.

        Use it with `aclosing`. The events end early for who takes them too slowly, and when the node stops.
        """
        ...


class Node:
    """The node as long as the worker runs; what methods that answer later are given."""

    def __init__(
        self,
        network: ChainParameters,
        reading: Reading,
        main: MainProcess,
        services: Mapping[type, object] | None = None,
    ) -> None:
        self.network = network
        self.reading = reading
        self.main = main
        self.share = ""
        """What is charged for broadcasts of who asks; see `Asker`."""
        self._services = dict(services or {})

    def asked_by(self, share: str) -> Node:
        """The same for one request."""
        same = copy(self)
        same.share = share
        return same

    def service(self, kind: type[S]) -> S:
        """What the node was started with besides its state: a history, a log of blocks."""
        service = self._services.get(kind)
        if not isinstance(service, kind):
            raise LookupError(f"the node was started without a {kind.__name__}")
        return service


class ApiView:
    """The node during one call. The state is opened when it is first looked at, and stays as it was then."""

    __slots__ = ("_budget", "_grown", "_opened", "_state", "node")

    def __init__(self, node: Node, budget: Budget) -> None:
        self.node = node
        self._budget = budget
        self._grown = 0
        self._opened: ExitStack | None = None
        self._state: View | None = None

    @property
    def network(self) -> ChainParameters:
        """The constants of the network."""
        return self.node.network

    @property
    def state(self) -> View:
        """The state of the last commit."""
        if self._state is None:
            self._opened = ExitStack()
            self._state = self._opened.enter_context(self.node.reading())
        return self._state

    def grow(self, size: int) -> None:
        """So many bytes more will be in the answer; one that grows too large is refused before it is whole."""
        self._grown += size
        self._budget.require_room(self._grown)

    def service(self, kind: type[S]) -> S:
        """See `Node.service`."""
        return self.node.service(kind)

    def close(self) -> None:
        """Close the view of the state."""
        if self._opened is not None:
            self._opened.close()
            self._opened = self._state = None
