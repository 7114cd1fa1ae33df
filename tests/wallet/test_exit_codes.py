"""Each error has its exit code, and docs/wallet.md lists them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.wallet.errors import UntrustedNode, WalletError

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "wallet.md"
ABSTRACT = {UntrustedNode}
"""Only its kinds are raised."""


def kinds_of(error: type[WalletError]) -> Iterator[type[WalletError]]:
    for each in error.__subclasses__():
        yield each
        yield from kinds_of(each)


KINDS = sorted(set(kinds_of(WalletError)) - ABSTRACT, key=str)


def test_every_error_has_a_code() -> None:
    assert [each for each in KINDS if each.EXIT_CODE == WalletError.EXIT_CODE] == []
    assert WalletError.EXIT_CODE == 1


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_document_has_the_code_of_each_error(kind: type[WalletError]) -> None:
    rows = [line for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if line.startswith("|")]

    assert any(f"`{kind.__name__}`" in row and f"| {kind.EXIT_CODE} |" in row for row in rows)
