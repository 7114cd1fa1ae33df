"""The checksums of what is released, and their signature."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path

from scripts.build_program import BuildError, run

NAME = "SHA256SUMS"


def write_sums(folder: Path) -> Path:
    """Write a line for each file, as `sha256sum --check` reads it."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.iterdir(), key=lambda path: path.name)
    ]
    (folder / NAME).write_text("".join(lines), encoding="ascii")
    return folder / NAME


def sign(sums: Path, command: str) -> Path:
    """Have a command sign the checksums; it is given their file, and leaves the signature beside it."""
    before = set(sums.parent.iterdir())
    run([*shlex.split(command), str(sums)])
    made = sorted(set(sums.parent.iterdir()) - before)
    if len(made) != 1 or not made[0].name.startswith(f"{NAME}."):
        raise BuildError(f"no signature stands beside {NAME} after: {command}")
    return made[0]
