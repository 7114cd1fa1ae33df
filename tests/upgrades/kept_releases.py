"""What each release has written, as `scripts/keep_release.py` kept it."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

from scripts.keep_release import KEPT

SUFFIX = ".tar.xz"
RELEASES = sorted(path.name.removesuffix(SUFFIX) for path in KEPT.glob(f"*{SUFFIX}"))


def unpack(release: str, folder: Path) -> dict[str, Any]:
    """Put the files of a release into a folder; what was true of them."""
    with tarfile.open(KEPT / f"{release}{SUFFIX}") as kept:
        kept.extractall(folder, filter="data")
    return dict(json.loads((folder / "facts.json").read_text()))
