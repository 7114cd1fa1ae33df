"""From the bytes of a request to the bytes of its answer (spec 05, section 5), without connections."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from functools import lru_cache, partial
from io import BytesIO
from typing import cast

from ledgerd.basics.quotas import HeldAmounts
from ledgerd.chain.log.files import DamageReports
from ledgerd.codec.errors import DecodeError
from ledgerd.codec.json.scalars import as_object
from ledgerd.codec.json.text import Json, text_bytes
from ledgerd.metrics.meters.requests import AT_FAILED, AT_OK, AT_REFUSED, RequestMeter, RequestTiming
from ledgerd.protocol.errors import OperatorError, RuleViolation
from ledgerd.protocol.properties import json_defaults_of
from ledgerd.rpc.call.bounds import LimitsReached, RequestBudget, names_in
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.declarations import Answering, Api, Method
from ledgerd.rpc.call.envelope import NO_ID, argument_list, call_of, error_answer, identifier, result_opening
from ledgerd.rpc.call.errors import (
    INVALID_REQUEST,
    OTHER,
    ErrorObject,
    PlainError,
    ServerFault,
    Unresolved,
    error_object,
)
from ledgerd.rpc.call.limits import NOBODY, Asker, Limits
from ledgerd.rpc.call.reading import LARGE, LargeBatch, read_large_request, read_request
from ledgerd.rpc.call.view import ApiView, Node
from ledgerd.rpc.shares.loop_turns import LoopTurns
from ledgerd.supervision.threads import in_thread

log = logging.getLogger(__name__)

UnreadError = PlainError | RuleViolation | DecodeError
REFUSALS = (PlainError, RuleViolation, DecodeError)
"""Exceptions that a client gets with the reference's text. Any other is an internal error."""

INTERNAL = ErrorObject(OTHER, "Internal error: the node's log says more")

Clock = Callable[[], float]

AnswerMaker = Callable[[], bytes]
"""Makes the bytes of an answer, when they can be sent: of a block, each subscriber's answer is a copy."""


@dataclass(eq=False)
class Later:
    """Answers that are still to come: one, or several of a subscription."""

    answers: AsyncGenerator[AnswerMaker, None]
    """Each answer when it is ready. Closing the iterator cancels the rest."""
    identity: str = NO_ID
    is_endless: bool = False
    """Whether it is a subscription, which a stopping node does not wait for."""
    held: int = 0
    """Bytes of the request that are kept until the answer is ready."""

    async def first(self) -> bytes:
        async with aclosing(self.answers) as answers:
            return (await anext(answers, self.none))()

    def none(self) -> bytes:
        return self.refused("The node stops before there is an answer")

    def refused(self, reason: str) -> bytes:
        """The answer on a connection that may not wait for further ones."""
        return error_answer(ErrorObject(OTHER, reason), self.identity)


class Dispatcher:
    """Answers requests with the methods of the APIs that are switched on."""

    def __init__(
        self, apis: Iterable[Api], node: Node, clock: Clock, *, cache: AnswerCache | None = None, limits: Limits
    ) -> None:
        self.apis = {name: api for api in apis for name in (api.name, api.former_name) if name}
        self.node = node
        self.cache = cache if cache is not None else AnswerCache()
        self.uncached = frozenset[str]()
        """APIs whose answers may change while the head stays."""
        self._clock = clock
        self._limits = limits
        self.bounds = LimitsReached()
        self.unsent_answers = HeldAmounts(limits.held_answer_bytes)
        self.turns = LoopTurns()
        self.charge_batch: Callable[[str, int], None] = lambda _address, _requests: None
        """Called with the address that sends a batch, and the number of its requests."""
        self._damage = DamageReports()
        self._reading = asyncio.Lock()
        self._meter: RequestMeter | None = None

    def count_with(self, meter: RequestMeter) -> None:
        self._meter = meter
        self.cache.on_hits = meter.hits

    def head_changed(self) -> None:
        self.cache.clear()
        self.node.forget()

    def answer(self, body: bytes, asker: Asker = NOBODY) -> bytes | Later:
        known = self.cache.find(body)
        if known is not None:
            return known
        if len(body) > LARGE:
            return Later(self._large_answer(body, asker), held=len(body))
        try:
            request = read_request(body)
        except REFUSALS as error:
            return self._unread(error)
        return self._read(request, body, asker)

    async def _large_answer(self, body: bytes, asker: Asker) -> AsyncGenerator[AnswerMaker, None]:
        """The answer to a body that takes long to read: in a thread, while others have their turns here.

        The parsed value needs many times the memory of the body, so only one is parsed at a time; a thread cannot be
        interrupted, so the next one waits for its end even where the client has left.
        """
        await self._reading.acquire()
        reading = in_thread(_read_beside, body)
        reading.add_done_callback(self._has_read)
        await asyncio.wait([reading])
        request = reading.result()
        if isinstance(request, UnreadError):
            yield partial(self._unread, request)
            return
        answered = await self.turns.do(asker.share, partial(self._read, request, body, asker))
        del reading, request, body  # what was read is not needed while an answer is waited for
        if isinstance(answered, Later):
            async with aclosing(answered.answers) as answers:
                async for answer in answers:
                    yield answer
        else:
            yield partial(bytes, answered)

    def _has_read(self, reading: asyncio.Future[Json | LargeBatch | UnreadError]) -> None:
        """Let the next large body be parsed; a fault of this one is told to its client, if that is still there."""
        self._reading.release()
        if not reading.cancelled():
            reading.exception()

    def _read(self, request: Json | LargeBatch, body: bytes, asker: Asker) -> bytes | Later:
        budget = RequestBudget(self._limits, lambda option: self.bounds.count(option, asker.address), asker.share)
        if not isinstance(request, list | LargeBatch):
            return self._single(request, budget, body)
        try:
            return self._batched(request, budget, asker, len(body))
        except REFUSALS as error:
            return self._unread(error)

    def _unread(self, error: UnreadError) -> bytes:
        """The answer to what is no request: errors of the reference's all get the same code."""
        RequestTiming(self._meter).end(AT_REFUSED, is_timed=False)
        fault = self.fault(error)
        return error_answer(fault if isinstance(error, PlainError) else fault._replace(code=OTHER), NO_ID)

    def fault(self, error: UnreadError) -> ErrorObject:
        return error_object(error, int(self._clock()))

    def _single(self, request: Json, budget: RequestBudget, body: bytes = b"") -> bytes | Later:
        """Answer one request; `body` if it came outside of a batch, so that the answer can be cached."""
        identity, note = NO_ID, RequestTiming(self._meter)
        try:
            members = as_object(request)
            identity = identifier(members)
            call = call_of(members)
            method = self.method(call.api, call.method)
            note.method = method.counted_as
            given = argument_list(call)
            budget.count_names(names_in(given) if method.is_weighed else 0)
            with json_defaults_of(self.node.network):
                arguments = method.arguments(given)
            if method.answering is not Answering.AT_ONCE:
                is_endless = method.answering is Answering.REPEATEDLY
                answers = self._answers(method, arguments, identity, budget, note)
                return Later(answers, identity, is_endless=is_endless, held=len(body))
            opening = result_opening(self._result(method, arguments, budget))
        except REFUSALS as error:
            note.end(AT_REFUSED)
            return self._refused(error, identity, budget)
        except Exception as error:  # noqa: BLE001 - it is logged
            note.end(AT_FAILED)
            return self._failed(error, note.method, identity, body)
        note.end(AT_OK)
        if body and method.is_cached and method.api not in self.uncached:
            self.cache.keep(body, identity, opening, method.full_name)
        return b"%b%b}" % (opening, text_bytes(identity))

    def _refused(self, error: UnreadError, identity: str, budget: RequestBudget) -> bytes:
        answer = error_answer(self.fault(error), identity)
        try:
            budget.count_bytes(len(answer))
        except PlainError as full:
            return error_answer(self.fault(full), identity)
        return answer

    def _failed(self, error: Exception, method: str, identity: str, body: bytes = b"") -> bytes:
        if isinstance(error, OperatorError):
            self._damage.report(error)
        else:
            words = {"method": method, "request": body[:1000].decode("utf-8", "replace")}
            log.error("a request could not be answered: %(method)s %(request)s", words, exc_info=error)
        return error_answer(INTERNAL, identity)

    def method(self, api: str, name: str) -> Method:
        known = self.apis.get(api)
        if known is None:
            raise Unresolved("api_itr != _registered_apis.end(): Could not find API ${api}", api=api)
        method = known.find(name)
        if method is None:
            raise Unresolved("method_itr != api_itr->second.end(): Could not find method ${method}", method=name)
        return method

    def _result(self, method: Method, arguments: list[object], budget: RequestBudget) -> bytes:
        view = ApiView(self.node, budget)
        try:
            text = method.codec.to_json(method.function(view, *arguments))
            budget.count_bytes(len(text))
            return text_bytes(text)
        finally:
            view.close()

    async def _answers(
        self, method: Method, arguments: list[object], identity: str, budget: RequestBudget, note: RequestTiming
    ) -> AsyncGenerator[AnswerMaker, None]:
        outcome = AT_OK
        try:
            made = method.function(self.node.asked_by(budget.share), *arguments)
            if method.answering is Answering.LATER:
                text = method.codec.to_json(await cast("Awaitable[object]", made))
                budget.count_bytes(len(text))
                yield partial(_composed, text, identity)
            else:
                async with aclosing(cast("AsyncGenerator[object, None]", made)) as values:
                    async for value in values:
                        yield partial(self._printed, method, value, identity)
        except REFUSALS as error:
            outcome = AT_FAILED if isinstance(error, ServerFault) else AT_REFUSED
            yield partial(error_answer, self.fault(error), identity)
        except Exception as error:  # noqa: BLE001 - it is logged
            outcome = AT_FAILED
            yield partial(bytes, self._failed(error, method.full_name, identity))
        finally:
            note.end(outcome, is_timed=method.answering is Answering.LATER)

    def _printed(self, method: Method, value: object, identity: str) -> bytes:
        try:
            return b"%b%b}" % (_shared_opening(method.codec.to_json(value)), text_bytes(identity))
        except Exception as error:  # noqa: BLE001 - it is logged
            return self._failed(error, method.full_name, identity)

    def _batched(self, requests: list[Json] | LargeBatch, budget: RequestBudget, asker: Asker, size: int) -> Later:
        if not requests:
            raise RuleViolation("messages.size(): Array is invalid")
        if 0 < self._limits.batch < len(requests):
            self.bounds.count("webserver-max-batch-size", asker.address)
            raise PlainError(f"A batch holds at most {self._limits.batch} requests", INVALID_REQUEST)
        self.charge_batch(asker.address, len(requests))
        return Later(self._batch_answer(requests, budget), held=size)

    async def _batch_answer(
        self, requests: list[Json] | LargeBatch, budget: RequestBudget
    ) -> AsyncGenerator[AnswerMaker, None]:
        batch = BatchAnswers(requests, budget, self.unsent_answers)
        try:
            while not batch.is_whole:
                # A batch may be long: other connections are served between its turns.
                late = await self.turns.do(budget.share, partial(self._go_on_with, batch))
                if late is not None:
                    batch.add(await late.first())
            yield batch.take
        except PlainError as error:
            yield partial(error_answer, self.fault(error), NO_ID)
        finally:
            batch.release()

    def _go_on_with(self, batch: BatchAnswers) -> Later | None:
        """Answer requests for as long as there is time, or up to one whose answer comes later."""
        for request in batch.rest:
            answered = self._single(request, batch.budget)
            if isinstance(answered, Later):
                return answered
            batch.add(answered)
            if not self.turns.has_time():
                return None
        batch.is_whole = True
        return None


@lru_cache(maxsize=2)
def _shared_opening(text: str) -> bytes:
    return result_opening(text_bytes(text))


def _composed(text: str, identity: str) -> bytes:
    return b"%b%b}" % (result_opening(text_bytes(text)), text_bytes(identity))


def _read_beside(body: bytes) -> Json | LargeBatch | UnreadError:
    """Read a large body on a thread.

    A refusal is returned, not raised: raised by a future it would hold the frames that it passed, which hold the future
    and with it the body, until a search for cycles.
    """
    try:
        return read_large_request(body)
    except REFUSALS as error:
        return error.with_traceback(None)


class BatchAnswers:
    """The requests that are still to be answered, and the answers to the others, in their order."""

    def __init__(self, requests: Iterable[Json], budget: RequestBudget, held: HeldAmounts) -> None:
        self.rest = iter(requests)
        self.budget = budget
        self.is_whole = False
        self._held = held
        self._kept = 0
        self._answers = BytesIO()  # it grows in place, and its bytes are handed over without a copy

    def add(self, answer: bytes) -> None:
        self._answers.write(b"," if self._kept else b"[")
        self._answers.write(answer)
        self._kept += len(answer)
        self._held.change(self.budget.share, len(answer))
        self.budget.require_held(self._held)

    def take(self) -> bytes:
        self.release()
        self._answers.write(b"]")
        return self._answers.getvalue()

    def release(self) -> None:
        self._held.change(self.budget.share, -self._kept)
        self._kept = 0
