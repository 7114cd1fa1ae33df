"""Draws `docs/images/page-*.png`: the page of a node for everybody and for its operator, wide and narrow, light and
dark, with the figures of `sample_node`.

python -m scripts.draw_page
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from scripts.chromium import Chromium
from scripts.sample_node import sample_details, sample_node, sample_status

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
DESK, PHONE = (1100, 800), (390, 844)
PICTURES = {
    "page-desk-light": (0, DESK, False),
    "page-desk-dark": (0, DESK, True),
    "page-phone-light": (0, PHONE, False),
    "page-phone-dark": (0, PHONE, True),
    "page-operator": (1, DESK, False),
}
"""For each picture the endpoint, the size of the window, and whether it is dark."""


def draw(folder: Path) -> None:
    """Take every picture, into a folder."""
    with sample_node(sample_details(sample_status(now=time.time()))) as node, Chromium() as browser:
        for name, (endpoint, (width, height), is_dark) in PICTURES.items():
            tab = browser.open(node.urls[endpoint], width=width, height=height, is_dark=is_dark)
            tab.wait_for("document.getElementById('problems').children.length && document.title.includes(',')")
            (folder / f"{name}.png").write_bytes(tab.picture(is_whole=True))
            tab.close()


def main() -> None:
    """Draw the pictures of the documents again."""
    IMAGES.mkdir(exist_ok=True)
    draw(IMAGES)
    sys.stdout.write("".join(f"{name}.png\n" for name in PICTURES))


if __name__ == "__main__":
    main()
