"""The registry of evaluators: which function carries an operation out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations import Operation

O = TypeVar("O", bound=Operation)  # noqa: E741 - the usual name of the parameter of an operation's rule
Evaluator = Callable[[Ledger, O], None]

_evaluators: dict[type[Operation], Evaluator[Any]] = {}


def evaluates(operation: type[O]) -> Callable[[Evaluator[O]], Evaluator[O]]:
    def register(evaluator: Evaluator[O]) -> Evaluator[O]:
        if operation in _evaluators:
            raise TypeError(f"{operation.__name__} has two rules")
        _evaluators[operation] = evaluator
        return evaluator

    return register


def apply_operation(ledger: Ledger, operation: Operation) -> None:
    """Report an operation, then carry it out; its checks and authorities were looked at before."""
    tracing = ledger.tracing
    if tracing is None:
        ledger.report(operation)
        _carry_out(ledger, operation)
        return
    step, tracing.cause = tracing.cause, len(ledger.operations)
    ledger.report(operation)
    _carry_out(ledger, operation)
    tracing.settle()
    tracing.cause = step


def apply_proposed_operation(ledger: Ledger, operation: Operation) -> None:
    """The same for an operation of a proposal, which counts as virtual."""
    tracing = ledger.tracing
    if tracing is None:
        ledger.emit(operation)
        _carry_out(ledger, operation)
        return
    tracing.settle()
    outer, tracing.cause = tracing.cause, len(ledger.operations)
    ledger.emit(operation)
    _carry_out(ledger, operation)
    tracing.settle()
    tracing.cause = outer


def _carry_out(ledger: Ledger, operation: Operation) -> None:
    kind = type(operation)
    if kind in ledger.samplers and ledger.is_reporting:
        with ledger.sampled(operation):
            _evaluators[kind](ledger, operation)
    else:
        _evaluators[kind](ledger, operation)
