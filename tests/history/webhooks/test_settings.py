"""Where the URL of a webhook leads."""

from __future__ import annotations

import pytest

from ledgerd.history.webhooks.settings import Target, target_of


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://shop.example/viz?a=1", Target("shop.example", 443, is_encrypted=True, path="/viz?a=1")),
        ("http://shop.example", Target("shop.example", 80, is_encrypted=False, path="/")),
        ("http://[::1]:8080", Target("::1", 8080, is_encrypted=False, path="/")),
    ],
)
def test_a_url_leads_to_a_host_a_port_and_a_path(url: str, target: Target) -> None:
    assert target_of(url) == target
