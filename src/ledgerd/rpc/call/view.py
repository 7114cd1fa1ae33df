"""What API methods use of the node: the state of the last commit, the network, the main process, and its services."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from copy import copy
from typing import Protocol, TypeVar

from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.rpc.call.bounds import RequestBudget
from ledgerd.rpc.call.errors import PlainError
from ledgerd.state.views.empty import EmptyView
from ledgerd.state.views.view import View

S = TypeVar("S")

OpenView = Callable[[], AbstractContextManager[View]]
"""Opens the state of the last commit, within a `with` block."""


def no_projections() -> AbstractContextManager[View]:
    """The `OpenView` of a worker without projections."""
    return nullcontext(EmptyView())


def nothing_to_read() -> AbstractContextManager[View]:
    raise PlainError("The node has no state")


class MainProcess(Protocol):
    """The main process, as API methods use it. `rpc.link.topics` lists the topics."""

    async def ask(self, topic: str, payload: bytes) -> bytes:
        """Send a request. A refusal raises its `RuleViolation`, a failed link `Unreachable`."""
        ...

    def events(self, topic: str) -> AsyncGenerator[bytes, None]:
        """The events of a topic from this call on.

        Use it with `aclosing`. The events end when the subscriber reads too slowly, and when the node stops.
        """
        ...


class Node:
    """The node, for the life of the worker; the argument of methods that answer later."""

    def __init__(
        self,
        network: ChainParameters,
        reading: OpenView,
        main: MainProcess,
        services: Mapping[type, object] | None = None,
        projections: OpenView = no_projections,
    ) -> None:
        self.network = network
        self.reading = reading
        self.projections = projections
        """Opens the projections, which are kept beside the state."""
        self.main = main
        self.share = ""
        """The name under which broadcasts of the client are charged; see `Asker`."""
        self._services = dict(services or {})
        self._memory: dict[type, object] = {}

    def memory(self, kind: type[S]) -> S:
        """The memory of a family of methods between the requests at one head, made when it is first asked for."""
        found = self._memory.get(kind)
        if not isinstance(found, kind):
            found = self._memory[kind] = kind()
        return found

    def forget(self) -> None:
        self._memory.clear()

    def asked_by(self, share: str) -> Node:
        same = copy(self)
        same.share = share
        return same

    def service(self, kind: type[S]) -> S:
        service = self._services.get(kind)
        if not isinstance(service, kind):
            raise LookupError(f"the node was started without a {kind.__name__}")
        return service


class ApiView:
    """The node during one call. The state is opened at its first use, and does not change then.

    So are its projections. These may be those of the next block, for a moment.
    """

    __slots__ = ("_budget", "_grown", "_opened", "_projections", "_state", "node")

    def __init__(self, node: Node, budget: RequestBudget) -> None:
        self.node = node
        self._budget = budget
        self._grown = 0
        self._opened = ExitStack()
        self._state: View | None = None
        self._projections: View | None = None

    @property
    def network(self) -> ChainParameters:
        return self.node.network

    @property
    def state(self) -> View:
        if self._state is None:
            self._state = self._opened.enter_context(self.node.reading())
        return self._state

    @property
    def projections(self) -> View:
        if self._projections is None:
            if self._state is None:
                self._state = self._opened.enter_context(self.node.reading())  # first, as it may be behind only
            self._projections = self._opened.enter_context(self.node.projections())
        return self._projections

    def grow(self, size: int) -> None:
        """Count bytes of the answer; too large an answer is refused before it is finished."""
        self._grown += size
        self._budget.require_room(self._grown)

    def service(self, kind: type[S]) -> S:
        return self.node.service(kind)

    def close(self) -> None:
        self._opened.close()
        self._state = self._projections = None
