"""Lengths of time, in seconds."""

from __future__ import annotations

MINUTE = 60
HOUR = 3_600
DAY = 86_400
