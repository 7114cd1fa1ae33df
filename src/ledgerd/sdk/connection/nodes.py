"""A caller over several nodes: whichever is well answers, and what may be repeated is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from ledgerd.client.envelope import NodeCall
from ledgerd.protocol.types.time_text import parse_time_text
from ledgerd.sdk.calling import Caller, TypedCall, WrongForm, decoded
from ledgerd.sdk.connection.clock import ClientClock, MachineClock
from ledgerd.sdk.connection.limits import ClientLimits
from ledgerd.sdk.connection.node_link import CallFailed, NodeLink
from ledgerd.sdk.connection.order import NodeOrder
from ledgerd.sdk.errors import ClientError, NodeError, NodeUnavailable, TimedOut, UnknownMethod, WrongAnswer, WrongChain

T = TypeVar("T")

CONFIG = NodeCall("database_api", "get_config")
HEAD = NodeCall("database_api", "get_dynamic_global_properties")
SHOWN_DIGITS = 16
MOST_NODES = 64


class Unsuited(Exception):
    """A node can't answer this, though it is well: another one may."""

    def __init__(self, error: ClientError) -> None:
        super().__init__(str(error))
        self.error = error


class Answered(NamedTuple, Generic[T]):
    """An answer, and whose it is."""

    value: T
    node: NodeLink


class Nodes(Caller):
    """Nodes of one chain."""

    def __init__(
        self,
        *urls: str,
        chain: bytes | str | None = None,
        limits: ClientLimits | None = None,
        clock: ClientClock | None = None,
    ) -> None:
        if not urls or len(urls) > MOST_NODES:
            raise ClientError(f"a client needs the address of a node, and has at most {MOST_NODES}")
        if not all(isinstance(each, str) for each in urls):
            raise ClientError("the addresses of nodes are texts, given one by one: Client(*addresses)")
        self.limits = limits or ClientLimits()
        self.clock = clock or MachineClock()
        self.links = [NodeLink(url, self.limits) for url in dict.fromkeys(urls)]
        self.config: dict[str, Any] = {}
        """The constants of the chain, once a node was asked."""
        self.chain = chain.hex() if isinstance(chain, bytes) else chain and chain.lower()
        """The id of the chain in hex; if none was given, that of the first node that answered, and None before."""
        self._order = NodeOrder(self.links, self.limits)
        self._places = asyncio.Semaphore(self.limits.at_once)
        self._is_closed = False

    async def call(
        self, api: str, method: str, params: Sequence[object], result: type[T], *, repeatable: bool = True
    ) -> T:
        def read(answers: Sequence[Any]) -> T:
            return _typed(answers[0], f"{api}.{method}", result)

        calls = (NodeCall(api, method, tuple(params)),)
        return (await self.ask(calls, read, repeatable=repeatable)).value

    async def batch(self, calls: Sequence[TypedCall]) -> list[Any]:
        found: list[Any] = []
        for start in range(0, len(calls), self.limits.largest_batch):
            part = calls[start : start + self.limits.largest_batch]

            def read(answers: Sequence[Any], part: Sequence[TypedCall] = part) -> list[Any]:
                return [_in_batch(answer, call) for answer, call in zip(answers, part, strict=True)]

            asked = [NodeCall(each.api, each.method, tuple(each.params)) for each in part]
            found += (await self.ask(asked, read)).value
        return found

    async def chain_id(self) -> str:
        """The chain's id in hex; of the first node that answered, where none was given."""
        if self.chain is None:
            await self.ask((CONFIG,), lambda answers: answers)
        return self.chain or ""

    async def ask(
        self,
        calls: Sequence[NodeCall],
        read: Callable[[Sequence[Any]], T],
        *,
        repeatable: bool = True,
        of: NodeLink | None = None,
    ) -> Answered[T]:
        """What is read of the answers of a node, of whichever is well or of a certain one. `read` gets a result or a
        `NodeError` for each call. Where it raises `WrongAnswer`, the node has failed; at `Unsuited`, another is asked.
        """
        if self._is_closed:
            raise ClientError("the client is closed")
        attempt = _Attempt(calls, read, repeatable, of)
        async with self._places:
            try:
                async with asyncio.timeout(self.limits.request_seconds):
                    return await self._answer(attempt)
            except TimeoutError:
                pass
        seconds = self.limits.request_seconds
        raise TimedOut("; ".join([f"no answer within {seconds:g} s", *attempt.reasons()]))

    def blame(self, node: NodeLink, why: WrongAnswer) -> None:
        """A node has said what can't be: it rests, and is asked last."""
        node.refusal = why
        self._order.failed(node, self.clock.passed())

    def demote(self, node: NodeLink) -> None:
        """Another node has newer blocks: they are asked first."""
        self._order.demote(node)

    def close(self) -> None:
        """End its connections, for good: what came after would begin one that nobody ends."""
        self._is_closed = True
        for link in self.links:
            link.close()

    async def _answer(self, attempt: _Attempt[T]) -> Answered[T]:
        ends = self.clock.passed() + self.limits.request_seconds
        for left in reversed(range(1 if attempt.of else self.limits.rounds)):
            if (found := await self._round(attempt)) is not None:
                return found
            if attempt.unsuited:
                raise attempt.unsuited[0]
            now = self.clock.passed()
            pause = self._order.pause(now)
            if not left or now + pause >= ends:
                break
            await self.clock.sleep(pause)
        raise self._none_of(attempt)

    async def _round(self, attempt: _Attempt[T]) -> Answered[T] | None:
        """Ask each node that may be asked now, until one answers."""
        tried: set[NodeLink] = set()
        while (node := attempt.of or self._order.first(self.clock.passed(), tried)) not in tried and node is not None:
            was_stale = self._order.is_stale(node)
            try:
                if self._order.is_due(node, self.clock.passed()):
                    await self._check(node)
                if self._order.is_stale(node) and not was_stale and not attempt.of:
                    continue  # there may be a better one
                tried.add(node)
                answers = await node.ask(attempt.calls, repeatable=attempt.repeatable)
                value = attempt.read(answers)
            except Unsuited as problem:
                attempt.unsuited.append(problem.error)
                if not attempt.repeatable:
                    raise problem.error from None
            except (CallFailed, WrongAnswer) as problem:
                tried.add(node)
                self._fail(node, attempt, problem)
            else:
                self._order.answered(node)
                return Answered(value, node)
        return None

    def _fail(self, node: NodeLink, attempt: _Attempt[T], problem: CallFailed | WrongAnswer) -> None:
        error = problem.error if isinstance(problem, CallFailed) else problem
        node.refusal = error
        self._order.failed(node, self.clock.passed())
        attempt.failures[node.name] = error
        if not attempt.repeatable and not (isinstance(problem, CallFailed) and not problem.was_sent):
            raise error from None

    async def _check(self, node: NodeLink) -> None:
        """Look at the chain and the head of a node, before it is believed."""
        try:
            config, head = await node.ask((CONFIG, HEAD))
        except CallFailed as problem:
            problem.was_sent = False  # nothing of what is asked for
            raise
        try:
            chain, time = str(config["CHAIN_ID"]), parse_time_text(head["time"])
        except (LookupError, TypeError, ValueError):
            raise CallFailed(WrongAnswer(f"{node.name} does not answer as a node does"), was_sent=False) from None
        expected = self.chain or chain
        if chain != expected:
            words = f"{node.name} is of the chain {chain[:SHOWN_DIGITS]}..., not of {expected[:SHOWN_DIGITS]}..."
            raise CallFailed(WrongChain(words, expected=expected, found=chain), was_sent=False)
        self.chain, self.config = expected, self.config or config
        self._order.checked(node, self.clock.passed(), self.clock.now() - time)

    def _none_of(self, attempt: _Attempt[T]) -> ClientError:
        errors = list(attempt.failures.values())
        if not errors:  # all of them rest
            errors = [each.refusal for each in self.links if each.refusal is not None]
        kinds = {type(each) for each in errors}
        kind = kinds.pop() if len(kinds) == 1 else NodeUnavailable
        words, first = "; ".join(map(str, errors)), errors[0] if errors else None
        if kind is WrongChain and isinstance(first, WrongChain):
            return WrongChain(words, expected=first.expected, found=first.found)
        return kind(words)


class _Attempt(Generic[T]):
    """A request, and how it has failed so far."""

    def __init__(
        self, calls: Sequence[NodeCall], read: Callable[[Sequence[Any]], T], repeatable: bool, of: NodeLink | None
    ) -> None:
        self.calls, self.read, self.repeatable, self.of = calls, read, repeatable, of
        self.failures: dict[str, ClientError] = {}
        self.unsuited: list[ClientError] = []

    def reasons(self) -> list[str]:
        return [str(each) for each in self.failures.values()]


def _typed(answer: object, method: str, result: type[T]) -> T:
    if isinstance(answer, NodeError):
        if answer.is_temporary or isinstance(answer, UnknownMethod):
            raise Unsuited(answer)
        raise answer
    try:
        return decoded(answer, result)
    except WrongForm as problem:
        raise Unsuited(WrongAnswer(f"{method}: the answer has another form: {problem}")) from problem


def _in_batch(answer: object, call: TypedCall) -> object:
    return answer if isinstance(answer, NodeError) else _typed(answer, f"{call.api}.{call.method}", call.result)
