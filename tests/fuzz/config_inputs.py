"""Damaged configuration files: faults are told together, no private key is told, and what is read stays the same."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.node.config.given import ConfigurationError
from ledgerd.node.config.templates import default_file, file_options
from tests.fuzz.mutations import damaged
from tests.fuzz.target import Broken

MOST_LINES = 12
SECRET_WIF = "5J9DBCRX5D2ZUUuy9qV2ef9p5sfA3ydHsDs2G531bob7wbEigDJ"
"""A key that nobody has published."""

COMPARED = (
    *("application", "chain", "p2p", "webserver", "validator_guard", "snapshot", "history"),
    *("webhooks", "state_stream", "explorer"),
)
"""The records that are the same when they are written and read again."""

TEMPLATES = Path(__file__).resolve().parents[2] / "share" / "ledgerd" / "config"

WORDS = (
    *(b"\n", b"=", b" = ", b"#", b"[", b"]", b'"', b"'", b"\xff", b"\x00", b"\xef\xbb\xbf", b"-1", b"0", b"4294967296"),
    *(b"true", b"127.0.0.1:0", b"[::1]:99999", b"::", b"9" * 40, b"[logger.default]\n", b"level = info\n", b"K", b"4T"),
)


@cache
def _lines() -> tuple[bytes, ...]:
    """A line for every option, lines of the templates, and one with a key."""
    options = [f"{option.name} = {option.shown}" for option in file_options()]
    lines = [*options, *default_file().splitlines()]
    for path in sorted(TEMPLATES.glob("*.ini")):
        lines += path.read_text(encoding="utf-8").splitlines()
    given = [line.encode() for line in dict.fromkeys(lines) if line and not line.startswith("# ")]
    return (*given, *[b"private-key = " + SECRET_WIF.encode()] * 8, b"validator = alice", b"validator = bob")


class ConfigFiles:
    """The file of a node, which nothing else configures."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "node_data_dir" / "config.ini"
        self._path.parent.mkdir(exist_ok=True)
        self._path.touch(0o600)

    def make(self, random: Random) -> bytes:
        lines = random.choices(_lines(), k=1 + int(random.random() * MOST_LINES))
        text = b"\n".join(lines)
        return damaged(random, text, WORDS) if random.random() < 0.8 else text

    def survive(self, given: bytes) -> bool:
        try:
            read = self._read(given)
        except ConfigurationError as error:
            if not error.problems:
                raise Broken("refused without a reason") from error
            _keeps_secret(str(error), given)
            return False
        _keeps_secret("\n".join(read.remarks), given)
        if self._read(given) != read:
            raise Broken("read in two ways")
        again = self._read(_written(read))
        for name in COMPARED:
            if getattr(again, name) != getattr(read, name):
                raise Broken(f"{getattr(again, name)!r} instead of {getattr(read, name)!r}")
        return True

    def _read(self, text: bytes) -> Configuration:
        self._path.write_bytes(text)
        return read_configuration({}, self._folder)


def _written(read: Configuration) -> bytes:
    """A file with every option that was given, as it was understood: an empty list as a line without a value, since
    there may be a default.
    """
    lines = [
        f"{each.option.name} = {value}"
        for each in read.settings
        if each.where and not each.option.kind.secret
        for value in each.shown or ("",)
    ]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _keeps_secret(told: str, given: bytes) -> None:
    """A whole key that was given is in no line for the operator."""
    if SECRET_WIF.encode() in given and SECRET_WIF in told:
        raise Broken("a private key is told")
