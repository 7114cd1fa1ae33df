"""Signers as real processes, and what is in the memory of a process."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ledgerd.protocol.crypto.keys import PrivateKey
from tests.node.processes import PROGRAM, NodeProcess
from tests.signer.headers import KEY, NAME

REGION = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) r")
PIECE = 1 << 24


def key_file(folder: Path, key: PrivateKey = KEY) -> Path:
    """A file with a key, for its owner alone."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "signing.key"
    file.touch(0o600)
    file.write_text(f"{key.wif}\n")
    return file


def words_of_signer(folder: Path, key: PrivateKey = KEY, name: str = NAME) -> tuple[str, ...]:
    """A signer with a Unix socket in its folder."""
    return (
        "signer",
        f"--data-dir={folder}",
        f"--key-file={key_file(folder, key)}",
        f"--validator={name}",
        f"--listen=unix:{folder}/socket",
    )


def signer(folder: Path, *words: str) -> NodeProcess:
    """A signer that runs."""
    return NodeProcess(*words_of_signer(folder), *words, program=PROGRAM)


def traces_of(key: PrivateKey, process: int, *files: Path) -> list[str]:
    """Where the key is found, raw, in hex or in WIF: memory, arguments and environment of a process, and files."""
    forms = {"raw": key.secret, "hex": key.secret.hex().encode(), "HEX": key.secret.hex().upper().encode()}
    forms["WIF"] = key.wif.encode()
    forms["number"] = key.secret[::-1]  # as libraries that count from the low end have it
    found: set[str] = set()
    for place, data in _places(process, files):
        found |= {f"{name} in {place}" for name, form in forms.items() if form in data}
    return sorted(found)


def _places(process: int, files: tuple[Path, ...]) -> Iterator[tuple[str, bytes]]:
    folder = Path(f"/proc/{process}")
    for name in ("cmdline", "environ"):
        yield name, (folder / name).read_bytes()
    for file in files:
        yield file.name, file.read_bytes()
    with (folder / "mem").open("rb") as memory:
        for line in (folder / "maps").read_text().splitlines():
            region = REGION.match(line)
            if region is None or line.endswith(("[vvar]", "[vsyscall]")):
                continue
            begin, end = (int(each, 16) for each in region.groups())
            yield from _pieces_of(memory, begin, end)


def _pieces_of(memory: object, begin: int, end: int) -> Iterator[tuple[str, bytes]]:
    """A region in pieces that overlap by more than a key is long."""
    for at in range(begin, end, PIECE):
        try:
            memory.seek(at)  # type: ignore[attr-defined]
            yield "memory", memory.read(min(PIECE + 128, end - at))  # type: ignore[attr-defined]
        except (OSError, OverflowError, ValueError):
            continue
