"""What counting the labels of markets costs the blocks in which these come and go, whatever their creators say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgerd.projections.markets.labels import MOST_ALIKE, MOST_TAGS, count_labels
from ledgerd.projections.markets.metadata_text import metadata_of
from ledgerd.projections.tables.market_records import (
    CATEGORY,
    PM_LABEL_COUNTS,
    SUBCATEGORY,
    TAG,
    TAG_OF_CATEGORY,
    PmMarketMeta,
)
from ledgerd.state.store import Store
from tests.chain.ledgers import fresh_ledger, kept_beside

BEGINNING = "b" * 200
"""All that the index keeps of a text."""

Counts = dict[tuple[int, str, str], int]


@pytest.fixture
def kept(tmp_path: Path) -> Store:
    return kept_beside(fresh_ledger(tmp_path, 15))


def market(category: str, tags: list[str], subcategory: str = "") -> PmMarketMeta:
    return metadata_of(json.dumps({"category": category, "subcategory": subcategory, "tags": tags}))


def counts(kept: Store) -> Counts:
    return {(each.kind, each.category, each.name): each.count for each in kept.scan(PM_LABEL_COUNTS)}


def test_labels_are_counted_and_taken_off_again(kept: Store) -> None:
    one, other = market("c", ["t", "u"], "s"), market("c", ["t", "jurisdiction:US"])
    count_labels(kept, one, 1)
    count_labels(kept, other, 1)
    assert counts(kept) == {
        (CATEGORY, "", "c"): 2,
        (SUBCATEGORY, "c", "s"): 1,
        (TAG, "", "t"): 2,
        (TAG_OF_CATEGORY, "c", "t"): 2,
        (TAG, "", "u"): 1,
        (TAG_OF_CATEGORY, "c", "u"): 1,
    }
    count_labels(kept, one, -1)
    count_labels(kept, other, -1)
    assert counts(kept) == {}


def test_of_thousands_of_tags_the_first_ones_are_counted(kept: Store) -> None:
    meta = market("", [f"t{number}" for number in range(5_000)])
    count_labels(kept, meta, 1)
    assert len(counts(kept)) == 2 * MOST_TAGS
    assert (TAG, "", f"t{MOST_TAGS - 1}") in counts(kept)
    count_labels(kept, meta, -1)
    assert counts(kept) == {}


def many_alike() -> Iterator[PmMarketMeta]:
    """Markets whose tags begin all alike."""
    for first in range(0, 4 * MOST_ALIKE, MOST_TAGS):
        yield market("", [f"{BEGINNING}{number}" for number in range(first, first + MOST_TAGS)])


def test_of_tags_that_begin_alike_so_many_are_counted_and_looked_through(
    kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan, read = kept.scan, list[object]()

    def counted(*given: Any, **more: Any) -> Iterator[object]:
        for each in scan(*given, **more):
            read.append(each)
            yield each

    monkeypatch.setattr(kept, "scan", counted)
    for meta in many_alike():
        read.clear()
        count_labels(kept, meta, 1)
        assert len(read) <= 2 * MOST_TAGS * MOST_ALIKE
    assert len(counts(kept)) == 2 * MOST_ALIKE
    for meta in many_alike():
        count_labels(kept, meta, -1)
    assert counts(kept) == {}


def test_a_label_that_was_not_counted_is_not_taken_off(kept: Store) -> None:
    count_labels(kept, market("c", ["t"]), -1)
    assert counts(kept) == {}
