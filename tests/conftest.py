"""What holds for every test."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Let the nodes that tests start hear an interrupt: a shell has what it runs in the background ignore it, and who
    ignores a signal passes that on.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
