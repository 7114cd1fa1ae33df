"""A search for private keys in the memory of a process: raw, in hex, and as WIF."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

PATIENCE = 60.0

SEARCH = """
import sys
from pathlib import Path
from ledgerd.protocol.keys import PrivateKey
from ledgerd.wallet.keys.wallet_file import WalletFile

_, path, planted, *pids = sys.argv[1:]
(entry,) = WalletFile.open(Path(path), b"secret").read().keys
keys = {"made": entry.key, "planted": PrivateKey.from_wif(planted)}
for pid in pids:
    found = set()
    maps, memory = Path(f"/proc/{pid}/maps").read_text().splitlines(), open(f"/proc/{pid}/mem", "rb")
    for line in maps:
        place, modes, *_ = line.split()
        first, last = (int(each, 16) for each in place.split("-"))
        if "r" not in modes or last - first > 1 << 30 or line.endswith(("[vvar]", "[vsyscall]")):
            continue
        try:
            memory.seek(first)
            data = memory.read(last - first)
        except (OSError, ValueError):
            continue
        for name, key in keys.items():
            if any(form in data for form in (key.secret, key.secret.hex().encode(), key.wif.encode())):
                found.add(name)
    print(*sorted(found))
"""


def search(words: list[str], *pids: int) -> list[list[str]]:
    """Which keys the memory of each process holds, by a process that gets the wallet's from its file."""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", SEARCH, *words, *map(str, pids)],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    return [line.split() for line in done.stdout.splitlines()]


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
