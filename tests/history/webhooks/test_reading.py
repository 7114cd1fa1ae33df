"""A webhook as an option gives it."""

from __future__ import annotations

import pytest

from ledgerd.chain.log.histories import Direction
from ledgerd.history.webhooks.reading import read_webhook, wanted_of, written_webhook
from ledgerd.history.webhooks.settings import Webhook, WebhookFault
from ledgerd.protocol.types.names import AccountName

ALICE, BOB = AccountName("alice"), AccountName("bob")


def test_a_url_with_its_secret_and_filter_is_read() -> None:
    hook = read_webhook(
        "https://shop.example/viz?a=1 secret=/s types=transfer,award accounts=alice,bob direction=incoming "
        "reversible=true start=7"
    )
    assert hook == Webhook(
        "https://shop.example/viz?a=1", "/s", ("transfer", "award"), (ALICE, BOB), "incoming", reversible=True, start=7
    )
    wanted = wanted_of(hook)
    assert wanted.tags is not None
    assert len(wanted.tags) == 2
    assert wanted.direction is Direction.INCOMING


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "http://HOST or https://HOST"),
        ("https://shop.example/", "secret=FILE is missing"),
        ("ftp://shop.example/ secret=/s", "http://HOST or https://HOST"),
        ("https:// secret=/s", "http://HOST or https://HOST"),
        ("https://me:word@shop.example/ secret=/s", "no user"),
        ("https://shop.example:99999/ secret=/s", "cannot be read"),
        ("https://shop.example/\x7f secret=/s", "ASCII"),
        ("https://shop.example/ secret=/s types=transfr", "there is no operation transfr"),
        ("https://shop.example/ secret=/s direction=up", "incoming, outgoing or any"),
        ("https://shop.example/ secret=/s reversible=1", "true or false"),
        ("https://shop.example/ secret=/s start=-1", "the number of a block"),
        ("https://shop.example/ secret=/s other=1", "each once"),
        ("https://shop.example/ secret=/s secret=/t", "each once"),
    ],
)
def test_what_is_wrong_is_said(text: str, fault: str) -> None:
    with pytest.raises(WebhookFault, match=fault):
        read_webhook(text)


@pytest.mark.parametrize(
    "more", ["", " types=transfer,award accounts=alice,bob direction=incoming reversible=true start=7", " start=9"]
)
def test_a_webhook_is_written_as_it_can_be_given(more: str) -> None:
    text = f"https://shop.example/viz?a=1 secret=/s{more}"
    assert written_webhook(read_webhook(text)) == text
