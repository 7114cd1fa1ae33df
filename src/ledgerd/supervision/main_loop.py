"""The event loop of the main process or of a worker process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def on_a_loop(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    if sys.platform == "win32":
        return asyncio.run(main())
    import uvloop  # noqa: PLC0415 - it does not exist for Windows

    return uvloop.run(main())
