"""Languages: the same texts in each, the right plural, and what a browser asks for."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.explorer import pages
from ledgerd.explorer.words.language import CODES, NAMES, language, preferred

PLURALS = {"en": 2, "ru": 3}
SOURCES = Path(pages.__file__).parent
PUT_IN = re.compile(r"\[\[([a-z0-9_.]+)\]\]")
DYNAMIC = re.compile(
    r"""(?<!visit\.)(?<!self\.)\b(?:text|counted)\(\s*["']([a-z0-9_.]+)["']|["'](fault\.(?!html)[a-z]+|away\.title)["']"""
)


def test_every_language_has_the_same_texts_with_the_same_values_in_them() -> None:
    first = language(CODES[0])
    for code in CODES:
        spoken = language(code)
        assert code in NAMES
        assert sorted(spoken.texts) == sorted(first.texts)
        for key, text in spoken.texts.items():
            if isinstance(text, str):
                assert _fields(text) == _fields(str(first.texts[key])), key
            elif key == "months":
                assert len(text) == 12
            else:
                assert len(text) == PLURALS[code], key


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_every_text_that_a_page_names_is_there_and_each_is_used() -> None:
    texts = set(language("en").texts)
    sources = [*SOURCES.rglob("*.html"), *SOURCES.rglob("*.py"), *(SOURCES.parent / "words").glob("*.py")]
    code = "\n".join(each.read_text(encoding="utf-8") for each in sources)
    named = set(PUT_IN.findall(code)) | {one or other for one, other in DYNAMIC.findall(code)}
    assert sorted(each for each in named - texts if not each.endswith(".")) == []
    chosen = ("group.", "direction.", "role.", "request.", "invite.", "market.", "payout.", "bet.", "lever.",
              "dispute.", "menu.", "span.", "ago.", "fault.")  # fmt: skip
    assert sorted(each for each in texts - named if not each.startswith(chosen) and each != "months") == []


@pytest.mark.parametrize(
    ("number", "english", "russian"),
    [
        (0, "0 transactions", "0 транзакций"),
        (1, "1 transaction", "1 транзакция"),
        (2, "2 transactions", "2 транзакции"),
        (5, "5 transactions", "5 транзакций"),
        (11, "11 transactions", "11 транзакций"),
        (21, "21 transactions", "21 транзакция"),
        (112, "112 transactions", "112 транзакций"),
        (1_003, "1003 transactions", "1003 транзакции"),
    ],
)
def test_numbers_have_the_form_of_their_language(number: int, english: str, russian: str) -> None:
    assert language("en").counted("transactions", number) == english
    assert language("ru").counted("transactions", number) == russian


@pytest.mark.parametrize(
    ("accepted", "code"),
    [
        ("", "en"),
        ("ru", "ru"),
        ("ru-RU,ru;q=0.9,en;q=0.8", "ru"),
        ("de,en;q=0.7,ru;q=0.8", "ru"),
        ("fr-CH, fr;q=0.9", "en"),
        ("ru;q=0", "en"),
        ("ru;q=....", "en"),
    ],
)
def test_a_browser_gets_the_language_that_it_likes_best(accepted: str, code: str) -> None:
    assert preferred(accepted) == code


@given(st.text(max_size=600))
def test_whatever_a_browser_sends_it_gets_a_language(accepted: str) -> None:
    assert preferred(accepted) in CODES
