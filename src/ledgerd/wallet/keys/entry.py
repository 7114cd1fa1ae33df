"""Where a secret comes from: a descriptor, a file, or the terminal, where it is typed without being shown."""

from __future__ import annotations

import math
import os
import secrets
import select
import stat
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ledgerd.wallet.errors import NotAsked, WalletError

LONGEST_SECRET = 4096
OTHERS = 0o077
SILENT_SECONDS = 3.0
"""A pipe that gives nothing for so long is said to be waited for."""

TERMINAL = "/dev/tty"


def read_secret(descriptor: int, seconds: float = math.inf) -> bytes:
    """Read one line, without its end, byte by byte: the bytes after it are for another reader."""
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


class SecretSource(msgspec.Struct, frozen=True):
    """Which of the three it is; the terminal if neither of the others."""

    descriptor: int | None = None
    file: Path | None = None
    name: str = "password"
    """The name of the secret in errors and prompts."""

    @contextmanager
    def opened(self, prompt: str) -> Iterator[int]:
        """A descriptor from which this process or another can read the secret."""
        if self.descriptor is not None:
            try:
                os.fstat(self.descriptor)
            except OSError:
                raise WalletError(f"--{self.name}-fd {self.descriptor} is not open") from None
            yield self.descriptor
        elif self.file is not None:
            try:
                opened = os.open(self.file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            except OSError as problem:
                raise WalletError(f"{self.file} cannot be read: {problem.strerror}") from problem
            try:
                _wait_for_writer(opened, self.file)
                yield opened
            finally:
                os.close(opened)
        else:
            with _silent_terminal(prompt, self.name) as terminal:
                yield terminal

    def read_new(self) -> bytes:
        with self.opened(f"New {self.name}: ") as descriptor:
            first = read_secret(descriptor)
        if self.descriptor is None and self.file is None:
            with self.opened("Once more: ") as descriptor:
                if not secrets.compare_digest(first, read_secret(descriptor)):
                    raise WalletError(f"the two entries of the {self.name} differ: nothing was changed")
        return first


def _wait_for_writer(opened: int, file: Path) -> None:
    """Wait until a file that may be a pipe, as of `<(pass show wallet)`, has something to read, or is at its end."""
    if stat.S_ISDIR(os.fstat(opened).st_mode):
        raise WalletError(f"{file} cannot be read: it is a folder")
    if not select.select([opened], [], [], SILENT_SECONDS)[0]:
        sys.stderr.write(f"waiting for {file}: nothing has been written into this pipe yet\n")
        select.select([opened], [], [])
    os.set_blocking(opened, True)


@contextmanager
def readable(secret: bytes) -> Iterator[int]:
    reading, writing = os.pipe()
    try:
        os.write(writing, secret + b"\n")
        os.close(writing)
        yield reading
    finally:
        os.close(reading)


@contextmanager
def _silent_terminal(prompt: str, name: str) -> Iterator[int]:
    try:
        terminal = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        raise NotAsked(f"no terminal to ask for the {name}: use --{name}-fd or --{name}-file") from None
    try:
        before = termios.tcgetattr(terminal)
        silent = before.copy()
        silent[3] &= ~termios.ECHO
        termios.tcsetattr(terminal, termios.TCSAFLUSH, silent)
        try:
            os.write(terminal, prompt.encode())
            yield terminal
        finally:
            termios.tcsetattr(terminal, termios.TCSAFLUSH, before)
            os.write(terminal, b"\n")
    finally:
        os.close(terminal)
