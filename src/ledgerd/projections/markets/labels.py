"""How many markets have each category, subcategory and tag (spec 11, section 6.5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ledgerd.state.objects.market_records import (
    CATEGORY,
    LABEL_BY_NAME,
    PM_LABEL_COUNTS,
    SUBCATEGORY,
    TAG,
    TAG_OF_CATEGORY,
    PmLabelCount,
    PmMarketMeta,
)

if TYPE_CHECKING:
    from ledgerd.chain.ledger.ledger import Ledger

UNCOUNTED_BEGINNING = "jurisdiction"
"""Of tags."""

Label = tuple[int, str, str]


def count_labels(ledger: Ledger, meta: PmMarketMeta, change: int) -> None:
    """Count the labels of a market that has come, or take them off with -1."""
    for kind, category, name in _labels_of(meta):
        label = _find(ledger, (kind, category, name))
        if label is None:
            ledger.store.create(PM_LABEL_COUNTS, PmLabelCount(kind=kind, category=category, name=name, count=1))
        elif label.count + change == 0:
            ledger.store.remove(label)
        else:
            with ledger.editing(label):
                label.count += change


def _labels_of(meta: PmMarketMeta) -> Iterator[Label]:
    if meta.category:
        yield CATEGORY, "", meta.category
        if meta.subcategory:
            yield SUBCATEGORY, meta.category, meta.subcategory
    for tag in meta.tags.split(","):
        if tag and not tag.startswith(UNCOUNTED_BEGINNING):
            yield TAG, "", tag
            yield TAG_OF_CATEGORY, meta.category, tag


def _find(ledger: Ledger, wanted: Label) -> PmLabelCount | None:
    """Long texts with the same beginning stand together in the index."""
    for label in ledger.store.scan(LABEL_BY_NAME, lower=wanted, upper=wanted):
        if (label.kind, label.category, label.name) == wanted:
            return label
    return None
