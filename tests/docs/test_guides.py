"""What the tests of documents rely on: an output that differs from the page is found."""

from __future__ import annotations

import pytest

from tests.docs.guides import assert_printed


def test_the_output_is_what_the_page_shows_with_anything_for_dots() -> None:
    assert_printed('"weight":16667\n', '"weight":16667\n')
    assert_printed('"penalty":500...\n', '"penalty":500013\n')


@pytest.mark.parametrize("printed", ['"weight":16668\n', '"weight":16667', 'x "weight":16667\n', ""])
def test_another_number_and_more_or_less_than_is_shown_is_found(printed: str) -> None:
    with pytest.raises(AssertionError):
        assert_printed('"weight":16667\n', printed)
