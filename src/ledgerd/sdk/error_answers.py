"""From the error object of an answer to the class of error that it stands for."""

from __future__ import annotations

from collections.abc import Mapping

from ledgerd.basics.printable import printable_lines
from ledgerd.client.envelope import MISSING
from ledgerd.protocol.secrets import without_keys
from ledgerd.sdk.errors import NodeError, UnknownMethod


def error_of(found: Mapping[str, object], method: str = "") -> NodeError:
    text = printable_lines(without_keys(str(found.get("message", ""))))
    kind = UnknownMethod if MISSING in text else NodeError
    return kind(f"{method}: {text}" if method else text)
