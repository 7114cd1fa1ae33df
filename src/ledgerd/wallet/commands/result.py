"""What a command gives back."""

from __future__ import annotations

from collections.abc import Mapping

CommandResult = Mapping[str, object]
