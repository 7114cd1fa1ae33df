"""The answers of a batch while they are made: one array, whose bytes count as kept for who asked."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO

from ledgerd.basics.quotas import HeldAmounts
from ledgerd.codec.json.text import Json
from ledgerd.rpc.call.bounds import RequestBudget


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
        """The array, which counts as kept here no more."""
        self.release()
        self._answers.write(b"]")
        return self._answers.getvalue()

    def release(self) -> None:
        self._held.change(self.budget.share, -self._kept)
        self._kept = 0
