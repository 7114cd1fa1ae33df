"""A search for private keys in processes, files and core files: raw, in hex, as numbers, and as WIF."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from tests.patience import PATIENCE

SEARCH = """
import re
import resource
import sys
from pathlib import Path
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.wallet.keys.wallet_file import WalletFile

_, path, planted, *places = sys.argv[1:]
(entry,) = WalletFile.open(Path(path), b"secret").read().keys
keys = {"made": entry.key, "planted": PrivateKey.from_wif(planted)}

def forms(key):
    text = key.secret.hex().encode()
    return {"raw": key.secret, "number": key.secret[::-1], "hex": text, "HEX": text.upper(), "WIF": key.wif.encode()}

PAGE = resource.getpagesize()
HELD = re.compile(b"[\\x40-\\xff]+", re.DOTALL)

def memory(process):
    # Pages that nobody has touched hold nothing, and to read them takes longer than all else: the upper two bits of
    # the eight bytes about a page say whether it is in memory, or swapped.
    maps = Path(f"/proc/{process}/maps").read_text().splitlines()
    memory, pages = (open(f"/proc/{process}/{name}", "rb", 0) for name in ("mem", "pagemap"))
    for line in maps:
        place, modes, *_ = line.split()
        first, last = (int(each, 16) for each in place.split("-"))
        if "r" not in modes or last - first > 1 << 30 or line.endswith(("[vvar]", "[vsyscall]")):
            continue
        pages.seek(first // PAGE * 8)
        for run in HELD.finditer(pages.read((last - first) // PAGE * 8)[7::8]):
            try:
                memory.seek(first + run.start() * PAGE)
                yield memory.read((run.end() - run.start()) * PAGE)
            except (OSError, ValueError):
                continue

def data_of(place):
    kind, _, where = place.partition(":")
    if kind == "memory":
        yield from memory(where)
    elif kind == "words":
        yield Path(f"/proc/{where}/cmdline").read_bytes()
        yield Path(f"/proc/{where}/environ").read_bytes()
    else:
        found = Path(where)
        for file in found.rglob("*") if found.is_dir() else [found]:
            if file.is_file():
                yield file.read_bytes()

for place in places:
    found = set()
    for data in data_of(place):
        for name, key in keys.items():
            found |= {f"{name}.{form}" for form, text in forms(key).items() if text in data}
    print(*sorted(found))
"""


def search(words: list[str], *places: str) -> list[list[str]]:
    """Which keys are in each place, and in which form, by a process that gets the wallet's from its file.

    A place is `memory:PID`, `words:PID` (arguments and environment) or `files:PATH`, of a file or all in a folder.
    """
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", SEARCH, *words, *places],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    return [line.split() for line in done.stdout.splitlines()]


def has_left_core(pid: int) -> bool:
    """Wait for the end of a child, which stays to be waited for by its owner; whether the system has dumped it."""
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert ended is not None
    return ended.si_code == os.CLD_DUMPED


def keeper_of(path: Path) -> int:
    """The process that has the wallet's path among its words."""
    wanted = str(path).encode()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (place / "cmdline").read_bytes().split(b"\0")
            if wanted in words and b"ledgerd.wallet.keys.keeper" in words:
                return int(place.name)
    raise AssertionError("there is no keeper")


def wait_for_end(pid: int) -> None:
    """Return when a process has no memory any more."""
    deadline = time.monotonic() + PATIENCE
    with suppress(OSError):
        while (Path("/proc") / str(pid) / "maps").read_text():
            assert time.monotonic() < deadline, f"the process {pid} never ended"
            time.sleep(0.01)
