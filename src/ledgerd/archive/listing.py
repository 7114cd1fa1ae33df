"""The list of an archive's files with checksums, as `sha256sum` writes it; only ids of blocks prove a file."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from ledgerd.archive.sealed import SealedFile, sealed_files
from ledgerd.basics.durable import sync_folder
from ledgerd.state.files.lock import swapping

LIST_NAME = "SHA256SUMS"
MOST_BYTES = 16 << 20
"""Of a list: a hundred thousand files."""
LINE = re.compile(r"([0-9a-f]{64}) [ *](\S+)", re.ASCII)


def list_sums(folder: Path) -> None:
    """Write the list anew; a node that writes the archive and a process that fetches do so one after the other."""
    path = folder / LIST_NAME
    with swapping(folder):
        known = listed(path.read_text(encoding="utf-8", errors="replace")) if path.exists() else {}
        lines = [f"{known.get(file) or _sum_of(folder / file.name)}  {file.name}\n" for file in sealed_files(folder)]
        new = path.with_name(f"{LIST_NAME}.new")
        new.write_text("".join(lines), encoding="utf-8")
        new.replace(path)
        sync_folder(folder)


def listed(text: str) -> dict[SealedFile, str]:
    found = {}
    for line in text.splitlines():
        match = LINE.fullmatch(line)
        file = SealedFile.named(match[2]) if match is not None else None
        if match is not None and file is not None:
            found[file] = match[1]
    return found


def _sum_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
