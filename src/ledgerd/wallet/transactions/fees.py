"""What an operation costs besides what it says itself: fees that validators have voted on, as a node tells them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ledgerd.basics.printable import shown_text
from ledgerd.protocol.operations import Operation


def fees_of(operations: tuple[Operation, ...], properties: dict[str, Any]) -> Iterator[str]:
    for operation in operations:
        fee = operation.FEE
        if fee is not None and fee.property in properties:
            amount, when = shown_text(str(properties[fee.property])), " (the first time)" if fee.is_once else ""
            yield f"{amount}{when}: {fee.property}"
