"""Where the URL of a webhook leads."""

from __future__ import annotations

import pytest

from ledgerd.client.address import NodeAddress
from ledgerd.history.webhooks.settings import Webhook, target_of


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://shop.example/viz?a=1", NodeAddress("https", "shop.example", None, "/viz?a=1")),
        ("http://shop.example", NodeAddress("http", "shop.example", None, "/")),
        ("http://[::1]:8080", NodeAddress("http", "::1", 8080, "/")),
    ],
)
def test_a_url_leads_to_a_host_a_port_and_a_path(url: str, target: NodeAddress) -> None:
    assert target_of(url) == Webhook(url, "/s").target == target
