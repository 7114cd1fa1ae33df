"""Values of strangers in pages: links within, careful links out, and no element or sign of theirs."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.explorer.words import values

KEY = "VIZ6MyX5QiXAXRZk7SYCiqpi6Mtm8UbHWDFSV8HPpt7FJyahCnc2T"
OTHER = "VIZ4wrBDBnHmUXTgzbtsyCDEXeZNdud7KYatdxAePhia8Kq5o5tzi"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,<script>",
        "ftp://example.test/",
        "//example.test",
        "http:",
        "http://[",
        "https://example.test/\u202eevil",
        " https://example.test",
        "https://example.test/" + "a" * 3_000,
        "",
    ],
)
def test_only_sound_addresses_of_the_web_are_links(url: str) -> None:
    assert "href" not in values.outside(url)


def test_a_link_out_passes_nothing_on() -> None:
    shown = values.outside("https://example.test/?a=1&b=<2>")
    assert 'rel="nofollow noopener noreferrer ugc"' in shown
    assert "&amp;b=&lt;2&gt;" in shown


@given(st.text(max_size=300))
def test_no_text_makes_an_element_or_leaves_its_attribute(text: str) -> None:
    for shown in (values.quoted(text), values.account(text), values.key(text), values.outside(text)):
        inside = re.sub(r'<(?:a|bdi|span)(?: [a-z]+="[^"<>]*")*>|</(?:a|bdi|span)>', "", shown)
        assert "<" not in inside
        assert '"' not in inside


def test_long_texts_are_cut_and_hidden_signs_are_shown() -> None:
    assert values.quoted("a" * 500).endswith("…</bdi>")
    assert values.quoted("a\u202eb\u0000") == "<bdi>a\ufffdb\ufffd</bdi>"
    assert values.quoted("a\u061cb\u2800\u3164") == "<bdi>a\ufffdb\ufffd\ufffd</bdi>"
    assert values.quoted("10\u00a0000 \u2764\ufe0f") == "<bdi>10\u00a0000 \u2764\ufe0f</bdi>"
    assert values.visible_lines("a\nb\u200b") == "a\nb\ufffd"


def test_who_signs_is_told_with_weights_only_where_they_matter() -> None:
    one = {"weight_threshold": 1, "account_auths": [["bob", 1]], "key_auths": [[KEY, 1]]}
    assert "≥" not in values.authority(one)
    both = {"weight_threshold": 2, "account_auths": [["bob", 1]], "key_auths": [[KEY, 1], [OTHER, 1]]}
    assert values.authority(both, full=True).count(" ×1") == 3  # noqa: RUF001 - as it is shown
    assert values.authority(both).endswith("≥ 2")
    assert values.authority({"weight_threshold": 1, "account_auths": [], "key_auths": []}) == values.NONE


def test_the_key_of_nobody_and_the_transaction_of_nobody_are_no_links() -> None:
    assert values.key("VIZ1111111111111111111111111111111114T1Anm") == values.NONE
    assert values.transaction("0" * 40) == values.NONE
    assert f">{KEY}<" in values.key(KEY, full=True)
