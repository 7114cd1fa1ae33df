"""Values that are remembered: each is made once, within bounds."""

from __future__ import annotations

from ledgerd.basics.remembering import Remembering


def test_a_value_is_made_once_and_of_a_long_key_each_time() -> None:
    made = list[str]()

    def make(key: str) -> int:
        made.append(key)
        return len(key)

    lengths = Remembering(make, 2, 3)

    assert [lengths[key] for key in ("a", "a", "long", "long", "abc", "abc")] == [1, 1, 4, 4, 3, 3]
    assert made == ["a", "long", "long", "abc"]


def test_there_are_never_more_than_it_may_have() -> None:
    lengths = Remembering[bytes, int](len, 2, 3)

    for key in (b"a", b"b", b"c", b"a"):
        assert lengths[key] == 1
        assert len(lengths) <= 2
