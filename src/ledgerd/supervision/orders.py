"""The order of a process: what its node writes to its input once, as JSON."""

from __future__ import annotations

import sys
from typing import TypeVar

import msgspec

T = TypeVar("T")


def order_of(packed: bytes, kind: type[T]) -> T:
    """The order. Without one, or with a part of one, the node was killed: this process ends too, without a word."""
    try:
        return msgspec.json.decode(packed, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        sys.exit(1)
