"""The pictures of the page in the documents are those that `scripts/pictures` draws."""

from __future__ import annotations

import struct
from pathlib import Path

from scripts.draw_page import IMAGES, PICTURES, draw


def size_of(png: Path) -> tuple[int, int]:
    """Width and height."""
    data = png.read_bytes()
    assert data.startswith(b"\x89PNG\r\n")
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def test_the_pictures_of_the_page_are_up_to_date(tmp_path: Path) -> None:
    draw(tmp_path)

    drawn = {name: size_of(tmp_path / f"{name}.png") for name in PICTURES}
    assert drawn == {name: size_of(IMAGES / f"{name}.png") for name in PICTURES}
    assert sorted(path.stem for path in IMAGES.glob("page-*.png")) == sorted(PICTURES)
