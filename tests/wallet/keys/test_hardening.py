"""Keys in memory are kept from swap: by locking all of it, or where the limits are small the pages of the keys."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

WITHOUT_RIGHTS = """
import os, re, sys
from pathlib import Path
from ledgerd.wallet.keys import hardening
from ledgerd.wallet.keys.contents import KeyEntry
from ledgerd.wallet.keys.sealing import Cost, PasswordKey

def locked():
    return int(re.search(r"VmLck:\\s+([0-9]+)", Path("/proc/self/status").read_text())[1])

if os.getuid() == 0:
    os.setgroups([])
    os.setuid(65534)
hardening.protect_memory()
told = [locked()]
held = [KeyEntry(os.urandom(32)) for _ in range(500)]
told.append(locked())
held.append(PasswordKey(b"secret", bytes(32), Cost(n=2)))
told.append(locked())
print(*told)
"""


def limited_to(most: int) -> list[int]:
    """Kilobytes that are locked by a process without rights: before there is a key, with 500, with that of a file."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (most, most))

    told = subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-c", WITHOUT_RIGHTS], preexec_fn=limit, capture_output=True, text=True, check=True
    ).stdout
    return [int(each) for each in told.split()]


@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_MEMLOCK)[1] in range(1 << 20), reason="nothing may be locked")
def test_with_a_small_limit_the_pages_of_keys_are_locked() -> None:
    none, some, all_of_them = limited_to(1 << 20)
    assert none == 0
    assert 500 * 32 >> 10 <= some <= 1 << 10
    assert some <= all_of_them <= 1 << 10


def test_where_nothing_may_be_locked_the_keys_are_used_all_the_same() -> None:
    assert limited_to(0) == [0, 0, 0]
