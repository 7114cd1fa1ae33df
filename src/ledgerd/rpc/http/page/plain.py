"""Pages that are made whole by the node: in the style of the page for a person, without a script."""

from __future__ import annotations

from html import escape

from ledgerd.rpc.describe.openrpc import released
from ledgerd.rpc.http.page.person import HTML, headers, style, style_hash
from ledgerd.rpc.http.responses import Page

NOT_KEPT = "no-store"
BEGINNING = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} - ledgerd</title>{refresh}
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1><a href="./">the node</a></header>
<main>
"""
END = """
</main>
<footer>ledgerd {version}, a full node of the VIZ Ledger</footer>
</body>
</html>
"""


def plain_page(title: str, content: str, refresh_seconds: int = 0) -> Page:
    """`content` is HTML; a browser asks again after so many seconds, if there are any."""
    refresh = f'\n<meta http-equiv="refresh" content="{refresh_seconds}">' if refresh_seconds else ""
    beginning = BEGINNING.format(title=escape(title), refresh=refresh, style=style())
    text = beginning + content + END.format(version=escape(released()))
    policy = (
        f"default-src 'none'; style-src {style_hash()}; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return Page(text.encode("utf-8", "replace"), HTML, headers=headers(policy, NOT_KEPT))
