"""Debian's Prometheus and its `promtool`, which `scripts/install-tools` installs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from scripts.monitoring.prometheus import ALERTS, tool

ROOT = Path(__file__).resolve().parents[2]
MONITORING = ROOT / "share" / "ledgerd" / "monitoring"
ALERT = re.compile(r"^      - alert: (\w+)$", re.MULTILINE)
METRIC = re.compile(r"\bledgerd_[a-z0-9_]+")
SECONDS = 60.0


def promtool(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - Debian's
        [tool("promtool"), *words], input=given, capture_output=True, text=True, timeout=SECONDS, check=False
    )


def alerts() -> list[str]:
    return ALERT.findall(ALERTS.read_text(encoding="utf-8"))
