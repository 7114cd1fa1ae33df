"""Reading a secret from a descriptor: a terminal, a pipe, or a file that only its owner can read."""

from __future__ import annotations

import os
import stat

from ledgerd.wallet.errors import WalletError

LONGEST_SECRET = 4096
OTHERS = 0o077


def read_secret(descriptor: int) -> bytes:
    """One line, without its end. Read byte by byte: what follows belongs to somebody else.

    Raises:
        WalletError: It is too long or empty, or a file that others can read.
    """
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_mode & OTHERS:
        raise WalletError("the file with the secret can be read by others: chmod 600 it")
    line = bytearray()
    while (byte := os.read(descriptor, 1)) not in (b"", b"\n"):
        line += byte
        if len(line) > LONGEST_SECRET:
            raise WalletError(f"the secret has more than {LONGEST_SECRET} characters")
    secret = bytes(line).removesuffix(b"\r")
    if not secret:
        raise WalletError("nothing was entered")
    return secret
