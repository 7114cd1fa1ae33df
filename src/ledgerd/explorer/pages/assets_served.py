"""The style sheet, the script and the icon, each under a name with its hash, so that browsers keep them for ever."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

FORMS = {
    "style.css": "text/css; charset=utf-8",
    "live.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
PREFIX = "/static/"


class StaticFile(NamedTuple):
    """One file."""

    body: bytes
    form: str


@cache
def _named() -> Mapping[str, tuple[str, StaticFile]]:
    folder = files(__package__).joinpath("assets")
    found = {}
    for name, form in FORMS.items():
        body = folder.joinpath(name).read_bytes()
        found[name] = (f"{PREFIX}{hashlib.sha256(body).hexdigest()[:12]}-{name}", StaticFile(body, form))
    return found


def asset_path(name: str) -> str:
    return _named()[name][0]


@cache
def assets() -> Mapping[str, StaticFile]:
    return dict(_named().values())
