"""How many markets have each category, subcategory and tag (spec 11, section 6.5)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ledgerd.projections.tables import market_records
from ledgerd.state.store import Store

UNCOUNTED_BEGINNING = "jurisdiction"
"""Tags with this beginning are not counted."""

MOST_TAGS = 32
"""Counted of a market, its first ones. The reference counts all, whenever somebody asks; here each is work in the block
that makes a market, and in the one that removes it, and a creator may name 20,000.
"""
MOST_ALIKE = 64
"""Labels that begin with the same 200 bytes: a label is looked for among them."""

Label = tuple[int, str, str]


def count_labels(kept: Store, meta: market_records.PmMarketMeta, change: int) -> None:
    """Count the labels of a market that has come, or take them off with -1."""
    for wanted in _labels_of(meta):
        label, is_room = _find(kept, wanted)
        if label is None:
            if is_room and change > 0:
                kind, category, name = wanted
                kept.create(
                    market_records.PM_LABEL_COUNTS,
                    market_records.PmLabelCount(kind=kind, category=category, name=name, count=1),
                )
        elif label.count + change == 0:
            kept.remove(label)
        else:
            with kept.editing(label):
                label.count += change


def _labels_of(meta: market_records.PmMarketMeta) -> Iterator[Label]:
    if meta.category:
        yield market_records.CATEGORY, "", meta.category
        if meta.subcategory:
            yield market_records.SUBCATEGORY, meta.category, meta.subcategory
    tags = (tag for tag in meta.tags.split(",") if tag and not tag.startswith(UNCOUNTED_BEGINNING))
    for tag in islice(tags, MOST_TAGS):
        yield market_records.TAG, "", tag
        yield market_records.TAG_OF_CATEGORY, meta.category, tag


def _find(kept: Store, wanted: Label) -> tuple[market_records.PmLabelCount | None, bool]:
    """A label, and whether there is room for it; long texts with the same beginning stand together in the index."""
    alike = 0
    for label in islice(kept.scan(market_records.LABEL_BY_NAME, lower=wanted, upper=wanted), MOST_ALIKE):
        if (label.kind, label.category, label.name) == wanted:
            return label, True
        alike += 1
    return None, alike < MOST_ALIKE
