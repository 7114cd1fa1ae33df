"""Questions to a person at a terminal."""

from __future__ import annotations

import os

from ledgerd.basics.printable import printable
from ledgerd.wallet.errors import NotAsked, NotConfirmed

TERMINAL = "/dev/tty"
LONGEST_ANSWER = 256
YES = {b"y", b"yes"}


def ask(question: str) -> bool:
    """Anything else than a yes is no."""
    try:
        terminal = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        raise NotAsked(f"no terminal to ask: {question} Use --yes if you know what is sent") from None
    try:
        os.write(terminal, f"{printable(question)} [y/N]: ".encode())
        return os.read(terminal, LONGEST_ANSWER).strip().lower() in YES
    finally:
        os.close(terminal)


def require_yes(question: str, *, is_given: bool) -> None:
    if not is_given and not ask(question):
        raise NotConfirmed("not confirmed: nothing was signed or sent")
