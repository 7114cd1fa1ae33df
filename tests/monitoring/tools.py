"""Debian's Prometheus and its `promtool`, which `scripts/install-tools` installs."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MONITORING = ROOT / "share" / "ledgerd" / "monitoring"
ALERTS = MONITORING / "alerts.yml"
ALERT = re.compile(r"^      - alert: (\w+)$", re.MULTILINE)
METRIC = re.compile(r"\bledgerd_[a-z0-9_]+")
SECONDS = 60.0


def tool(name: str) -> str:
    """The path of a tool; a test without it fails."""
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed: scripts/install-tools does that, as root"
    return found


def promtool(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - Debian's
        [tool("promtool"), *words], capture_output=True, text=True, timeout=SECONDS, check=False
    )


def alerts() -> list[str]:
    return ALERT.findall(ALERTS.read_text(encoding="utf-8"))
