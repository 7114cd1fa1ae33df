"""Limits the lines of a log by `supervision.line_rates`: what is above the rate of its kind is counted and left out."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Sequence

from ledgerd.supervision.line_rates import USUAL, LineRate, LineRates


class Limited(logging.Handler):
    """Passes lines to other handlers, as many as their kinds allow, and says how many were left out.

    The count is written with the next line of whatever kind that comes a minute later, or at the end. Lines below info
    are for whoever looks for a fault, and are all passed on.
    """

    def __init__(self, targets: Sequence[logging.Handler]) -> None:
        super().__init__()
        self.targets = targets
        self._rates = LineRates()
        self._examples: dict[Hashable, logging.LogRecord] = {}

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.INFO and getattr(record, "progress", None) is None:
            rate: LineRate = getattr(record, "rate", USUAL)
            kind: Hashable = rate.kind or (record.pathname, record.lineno)
            is_admitted = self._rates.admits(kind, rate, record.created)
            self._write_counts(record.created)
            if not is_admitted:
                self._examples[kind] = record
                return
        self._pass_on(record)

    def close(self) -> None:
        self._write_counts(float("inf"))
        for target in self.targets:
            target.close()
        super().close()

    def _write_counts(self, now: float) -> None:
        for kind, count in self._rates.due(now):
            example = self._examples.pop(kind)
            what = f"more {kind} were" if isinstance(kind, str) else f"more lines like '{example.getMessage()}' were"
            fields: dict[str, object] = {"left_out": count, "what": what}
            text = "%(left_out)d %(what)s left out"
            line = logging.LogRecord(
                example.name, example.levelno, example.pathname, example.lineno, text, (fields,), None, example.funcName
            )
            line.created, line.threadName = example.created if now == float("inf") else now, example.threadName
            self._pass_on(line)

    def _pass_on(self, record: logging.LogRecord) -> None:
        for target in self.targets:
            if record.levelno >= target.level:
                target.handle(record)
