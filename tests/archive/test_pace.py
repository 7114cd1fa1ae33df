"""Whoever drips blocks is given up; whoever sends enough may take as long as it wants."""

from __future__ import annotations

import pytest

from ledgerd.archive.errors import SourceFault
from ledgerd.archive.pace import SPAN_SECONDS, SourcePace


def test_a_source_that_sends_enough_in_each_span_goes_on_for_ever_and_is_given_up_in_the_first_that_it_does_not() -> (
    None
):
    now = [0.0]
    pace = SourcePace("somebody", 60, "blocks", lambda: now[0])
    for _ in range(100):
        now[0] += SPAN_SECONDS / 2
        pace.count(0)
        now[0] += SPAN_SECONDS / 2
        pace.count(60)
    pace.count(59)
    now[0] += SPAN_SECONDS - 1
    pace.count(0)
    now[0] += 1
    with pytest.raises(SourceFault, match="somebody is too slow: it sends fewer than 60 blocks in 60 s"):
        pace.count(0)
