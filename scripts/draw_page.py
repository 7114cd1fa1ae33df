"""Draws `docs/images/page-*.png`: the page of a node for everybody and for its operator, wide and narrow, light and
dark, with the figures of `sample_node`.

python -m scripts.draw_page
"""

from __future__ import annotations

import hashlib
import struct
import sys
import time
import zlib
from pathlib import Path

from scripts.chromium import Chromium
from scripts.sample_node import sample_details, sample_node, sample_status

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
KEYWORD = b"drawn-from"
END_SIZE = 12
"""Bytes of the chunk that ends a PNG."""
DESK, PHONE = (1100, 800), (390, 844)
PICTURES = {
    "page-desk-light": (0, DESK, False),
    "page-desk-dark": (0, DESK, True),
    "page-phone-light": (0, PHONE, False),
    "page-phone-dark": (0, PHONE, True),
    "page-operator": (1, DESK, False),
}
"""For each picture the endpoint, the size of the window, and whether it is dark."""


def fingerprint() -> str:
    """What the pictures show: the page and the figures."""
    files = (ROOT / "src/ledgerd/rpc/http/page/page.html", ROOT / "scripts/sample_node.py")
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def marked(png: bytes) -> bytes:
    """A picture with the fingerprint in a text of its own, before its end."""
    text = b"tEXt" + KEYWORD + b"\0" + fingerprint().encode()
    chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
    return png[:-END_SIZE] + chunk + png[-END_SIZE:]


def draw(folder: Path) -> None:
    """Take every picture, into a folder."""
    with sample_node(sample_details(sample_status(now=time.time()))) as node, Chromium() as browser:
        for name, (endpoint, (width, height), is_dark) in PICTURES.items():
            tab = browser.open(node.urls[endpoint], width=width, height=height, is_dark=is_dark)
            tab.wait_for("document.getElementById('problems').children.length && document.title.includes(',')")
            (folder / f"{name}.png").write_bytes(marked(tab.picture(is_whole=True)))
            tab.close()


def main() -> None:
    """Draw the pictures of the documents again."""
    IMAGES.mkdir(exist_ok=True)
    draw(IMAGES)
    sys.stdout.write("".join(f"{name}.png\n" for name in PICTURES))


if __name__ == "__main__":
    main()
