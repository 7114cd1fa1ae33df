"""What parts share of the signing of blocks: who forbids it, and how soon our next slot is."""

from __future__ import annotations

from collections.abc import Callable


class SigningPermit:
    """Parts that start before production may forbid it; from any thread."""

    def __init__(self) -> None:
        self._forbidden: dict[str, str] = {}
        self.seconds_to_our_slot: Callable[[], int | None] = lambda: None
        """For the thread of the chain; None where this node signs nothing. Set by production."""

    def forbid(self, name: str, reason: str) -> None:
        self._forbidden = {**self._forbidden, name: reason}

    def allow(self, name: str) -> None:
        self._forbidden = {each: reason for each, reason in self._forbidden.items() if each != name}

    @property
    def refusal(self) -> str:
        """Why nothing is signed; empty while signing is allowed."""
        return "; ".join(self._forbidden.values())
