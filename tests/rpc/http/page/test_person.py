"""The page as it is served: the same for everybody, and with a policy that names its own script and style."""

from __future__ import annotations

import base64
import hashlib
import re

from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.http.page.person import OPERATOR_METHOD, PUBLIC_METHOD, operator_page, person_page, policy
from ledgerd.rpc.http.responses import page_head

HOSTILE = '<b onclick="x">$METHOD</b>'


def test_the_policy_names_the_script_and_the_style_by_their_sums() -> None:
    text = person_page((), {}).body.decode()
    for tag in ("script", "style"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy()
    assert "unsafe" not in policy()
    assert policy().startswith("default-src 'none';")
    assert f"Content-Security-Policy: {policy()}\r\n".encode() in page_head(operator_page())


def test_the_page_asks_no_other_address() -> None:
    text = person_page((), {}).body.decode()
    assert re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]+", text) == []
    assert re.findall(r"\bon[a-z]+=|\bstyle=|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text) == []


def test_the_operator_s_page_follows_another_method_and_names_no_apis() -> None:
    public = person_page((Api("sample_api", "What it is for."),), {"/ready": "whether it is ready"}).body.decode()
    private = operator_page().body.decode()
    assert f'data-method="{PUBLIC_METHOD}"' in public
    assert "sample_api" in public
    assert f'data-method="{OPERATOR_METHOD}"' in private
    assert "sample_api" not in private


def test_what_an_api_says_of_itself_is_text() -> None:
    text = person_page((Api(HOSTILE, HOSTILE),), {f"/{HOSTILE}": HOSTILE}).body.decode()
    assert "<b onclick" not in text
    assert text.count("&lt;b onclick=&quot;x&quot;&gt;$METHOD&lt;/b&gt;") == 5
