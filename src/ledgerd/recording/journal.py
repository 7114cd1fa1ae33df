"""What has happened so far, a line of JSON for each step: a recording that was interrupted goes on after the last."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

from ledgerd.protocol.errors import OperatorError

NAME = "journal.jsonl"


class RecordingJournal:
    """The file, and what it had when it was opened."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / NAME
        self.lines: list[dict[str, Any]] = []
        if self._path.exists():
            self._read()

    def _read(self) -> None:
        """A last line that was cut by a kill is as if it had not been begun."""
        text = self._path.read_text(encoding="utf-8", errors="surrogateescape")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self._path.write_text(whole, encoding="utf-8", errors="surrogateescape")
        try:
            self.lines = [json.loads(line) for line in whole.splitlines()]
        except ValueError:
            raise OperatorError(f"{self._path} has a line that is not JSON: name another folder") from None

    def add(self, line: dict[str, Any]) -> None:
        """Write a line; it is on the disk when this returns."""
        with self._path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.lines.append(line)

    @property
    def begun(self) -> dict[str, Any] | None:
        """The line with which the recording was begun."""
        return next((line["begun"] for line in self.lines if "begun" in line), None)

    def steps(self) -> dict[str, list[dict[str, Any]]]:
        """The lines of each scenario, in their order."""
        found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for line in self.lines:
            if "scenario" in line:
                found[line["scenario"]].append(line)
        return found
