"""Programs for arm64 on a machine of another kind.

What runs them is said in a user namespace alone, since Linux 6.7: the machine itself does not change.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.patience import PATIENCE

EMULATOR = "qemu-aarch64-static"
MAGIC = r"\x7fELF\x02\x01\x01\x00" + r"\x00" * 8 + r"\x02\x00\xb7\x00"
MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00" + r"\xff" * 8 + r"\xfe\xff\xff\xff"
"""How a program for arm64 begins."""

HOLDER = """
echo begun
read -r mapped
exec sh -euc '
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
printf %s "$1" >/proc/sys/fs/binfmt_misc/register
echo ready
read -r ended
' sh "$1"
"""
EVERYBODY = "0 0 65536\n"
"""Users and groups are the same inside."""


class CannotEmulateError(Exception):
    """This machine runs no program for arm64, and why."""


@contextmanager
def emulated() -> Iterator[int]:
    """A process in a user namespace in which programs for arm64 run."""
    emulator = shutil.which(EMULATOR)
    if emulator is None:
        raise CannotEmulateError(f"there is no {EMULATOR}")
    rule = f":arm64:M::{MAGIC}:{MASK}:{emulator}:F"
    with subprocess.Popen(  # noqa: S603 - our own words
        ["unshare", "--user", "--mount", "sh", "-c", HOLDER, "sh", rule],  # noqa: S607
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        try:
            holder.stdout.readline()
            for name in ("uid_map", "gid_map"):
                Path(f"/proc/{holder.pid}/{name}").write_text(EVERYBODY)
            holder.stdin.write("\n")
            holder.stdin.flush()
            if holder.stdout.readline() != "ready\n":
                raise CannotEmulateError(f"Linux {platform.release()} has no programs of its own in a user namespace")
            yield holder.pid
        finally:
            holder.stdin.close()
            holder.wait(PATIENCE)
