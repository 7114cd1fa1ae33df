"""Reading a secret from a descriptor: a terminal, a pipe, or a file that only its owner can read."""

from __future__ import annotations

import math
import os
import select
import stat
import time

from ledgerd.wallet.errors import WalletError

LONGEST_SECRET = 4096
OTHERS = 0o077


def read_secret(descriptor: int, seconds: float = math.inf) -> bytes:
    """One line, without its end. Read byte by byte: what follows belongs to somebody else."""
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_mode & OTHERS:
        raise WalletError("the file with the secret can be read by others: chmod 600 it")
    line, deadline = bytearray(), time.monotonic() + seconds
    while (byte := _next_byte(descriptor, deadline)) not in (b"", b"\n"):
        line += byte
        if len(line) > LONGEST_SECRET:
            raise WalletError(f"the secret has more than {LONGEST_SECRET} characters")
    secret = bytes(line).removesuffix(b"\r")
    if not secret:
        raise WalletError("nothing was entered")
    return secret


def _next_byte(descriptor: int, deadline: float) -> bytes:
    if math.isfinite(deadline) and not select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
        raise WalletError("the secret was not entered in time")
    return os.read(descriptor, 1)
