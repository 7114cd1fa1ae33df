"""Metadata is chosen by its bytes as by its fields (spec 11, section 6.4)."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledgerd.projections.tables.market_records import PM_MARKET_META, PmMarketMeta
from ledgerd.rpc.api.prediction_market.shared import metadata_filter
from ledgerd.rpc.api.prediction_market.shared.metadata_filter import MetadataFilter, part_test

LONG = "a" * 130
CATEGORIES = st.sampled_from(["", "a", "ab", "a\0", "a\0b", LONG, LONG + "\0a", "\0"])
LABELS = st.sampled_from(["", "a", "b", "A", "a,b", "b,a", "a,a,b", LONG, f"b,{LONG}", "\0", "b" * 255, "a" * 300])
METADATA = st.builds(
    PmMarketMeta,
    market=st.integers(0, 2**40),
    category=CATEGORIES,
    subcategory=LABELS,
    tags=LABELS,
    banned_jurisdictions=LABELS,
    title=st.sampled_from(["", "a", "\xff" * 9]),
    child=st.booleans(),
)
FILTERS = st.builds(MetadataFilter, CATEGORIES, LABELS, LABELS, LABELS, st.booleans())


def contains(joined: bytes, token: bytes) -> bool:
    """The same step by step, as the specification says it."""
    place = joined.find(token) if joined and token else -1
    while place >= 0:
        end = place + len(token)
        if (place == 0 or joined[place - 1 : place] == b",") and (end == len(joined) or joined[end : end + 1] == b","):
            return True
        place = joined.find(token, end)
    return False


def says(meta: PmMarketMeta, wanted: MetadataFilter) -> bool:
    return (
        meta.category.partition("\0")[0] == wanted.category.partition("\0")[0]
        and not (meta.child and wanted.hide_children)
        and not contains(meta.banned_jurisdictions.encode(), wanted.jurisdiction.encode())
        and wanted.subcategory in {"", meta.subcategory}
        and (not wanted.tag or contains(meta.tags.lower().encode(), wanted.tag.lower().encode()))
    )


@given(st.lists(METADATA, max_size=8), FILTERS)
@example([PmMarketMeta(category="a", subcategory="\0" + "a" * 97)], MetadataFilter("ab", "", "", "", False))
@example([PmMarketMeta(category="a", tags="a,B")] * 2, MetadataFilter("a", "b", "", "b", True))
def test_bytes_are_chosen_as_fields_are(metadata: list[PmMarketMeta], wanted: MetadataFilter) -> None:
    condition = wanted.condition()
    for meta in metadata:
        assert condition(PM_MARKET_META.codec.encode(meta)) is says(meta, wanted)


def test_many_labels_are_judged_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata_filter, "MOST_LABELS", 3)
    condition = MetadataFilter("a", "", "", "7", hide_children=True).condition()
    rows = [PM_MARKET_META.codec.encode(PmMarketMeta(category="a", tags=f"x,{number % 9}")) for number in range(40)]
    assert [number for number, raw in enumerate(rows) if condition(raw)] == [7, 16, 25, 34]


@pytest.mark.parametrize(
    ("joined", "token", "is_in"),
    [
        ("USA,US", "US", True),
        ("USA", "US", False),
        ("a,b", "a,b", True),
        ("", "a", False),
        ("a", "", False),
        ("aaa,a", "aa", False),
        ("b,aa", "aa", True),
    ],
)
def test_a_token_is_a_part_between_commas(joined: str, token: str, *, is_in: bool) -> None:
    assert contains(joined.encode(), token.encode()) is is_in
    assert not token or part_test(token.encode())(joined.encode()) is is_in


@given(st.text("a,", max_size=16), st.text("a,", min_size=1, max_size=4))
@example("a,aa,a,a", "a,a")
@example(",,,", ",")
def test_a_token_is_found_the_quick_way_as_it_is_step_by_step(joined: str, token: str) -> None:
    assert part_test(token.encode())(joined.encode()) is contains(joined.encode(), token.encode())


@pytest.mark.parametrize(("joined", "token"), [("a,aa,a" * 3_000, "a,a"), ("x,x" * 9_000 + ",a,", ",")])
def test_a_list_full_of_places_that_are_no_part_is_judged_as_step_by_step(joined: str, token: str) -> None:
    for end in ("", ",a,a", "xa,a,a,"):
        whole = (joined + end).encode()
        assert part_test(token.encode())(whole) is contains(whole, token.encode())
