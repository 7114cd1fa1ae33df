"""Private keys in texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.secrets import HIDDEN, holds_key, without_keys

KEY = "5J9DBCRX5D2ZUUuy9qV2ef9p5sfA3ydHsDs2G531bob7wbEigDJ"


@given(
    st.integers(1, 2**255),
    st.sampled_from(["{}", "key{}", "VIZ{}", "private-key: {}", "a={},b", '"{}"', "/data/{}", "x/{}.txt"]),
)
def test_no_key_is_shown(number: int, place: str) -> None:
    secret = number.to_bytes(32, "big")
    for text in (PrivateKey(secret).wif, secret.hex()):
        shown = without_keys(place.format(text))
        assert shown == place.format(HIDDEN)
        assert text not in str(OperatorError(place.format(text)))
        assert holds_key(place.format(text))


@pytest.mark.parametrize("part", [KEY[:-1], KEY[:40], KEY + "x", KEY.replace("G", "H")])
def test_a_key_that_is_cut_or_mistyped_is_not_shown_either(part: str) -> None:
    assert without_keys(f"line {part}!") == f"line {HIDDEN}!"


@pytest.mark.parametrize(
    "text",
    [
        "VIZ6MyX5QiXAXRZk7SYCiqpi6Mtm8UbHWDFSV8HPpt7FJyahCnc2T",
        "there is no such option; the nearest one is private-key",
        "block 0000000a4ee72bd51ab6dc1d2a0ecf6e0f9e8d2a",
        "/var/lib/ledgerd/config.ini:5000000000000000000000000000000000000",
    ],
)
def test_other_words_are_left_alone(text: str) -> None:
    assert without_keys(text) == text
    assert not holds_key(text)
