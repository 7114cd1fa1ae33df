"""What holds for every test."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Let the nodes that tests start hear an interrupt and a hang-up.

    Who ignores a signal passes that on to what it starts, and a shell has what runs in its background ignore the one,
    `nohup` the other.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
