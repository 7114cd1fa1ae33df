"""`docs/metrics.md` is what the table says."""

from __future__ import annotations

from ledgerd.metrics.table import FAMILIES
from scripts.generate_metrics_docs import DOCUMENT, document


def test_the_document_is_up_to_date() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(), "run `make docs`"


def test_every_family_is_in_it_once() -> None:
    text = document()

    assert all(text.count(f"\n| `{family.name}` | {family.kind.value} |") == 1 for family in FAMILIES)
