"""What was shown is remembered within a bound, the newest of it in any case."""

from __future__ import annotations

from ledgerd.history.embedded.view import TextCache


def test_a_cached_text_is_found_for_two_generations() -> None:
    remembered = TextCache[int, str](10)
    for key in range(3):
        remembered.keep(key, "12345", 5)
    assert remembered.find_all(range(4)) == ["12345", "12345", "12345", None]
    remembered.keep_all([(3, "12345"), (4, "12345")], 10)
    assert remembered.find(0) is None
    assert remembered.find(2) == remembered.find(4) == "12345"
    assert len(remembered) <= 4


def test_a_text_larger_than_the_cache_is_not_cached() -> None:
    remembered = TextCache[int, str](10)
    remembered.keep(1, "x" * 11, 11)
    assert remembered.find(1) is None


def test_a_cleared_cache_is_empty() -> None:
    remembered = TextCache[int, str](10)
    remembered.keep(1, "x", 1)
    remembered.clear()
    assert remembered.find(1) is None
