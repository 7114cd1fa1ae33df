"""Encrypting with a password: scrypt makes a key of it, ChaCha20-Poly1305 seals the data and the parameters.

A part of what scrypt makes is kept in the file as a check, so that a wrong password and a damaged file have different
texts. Who guesses passwords gains nothing from it: each guess costs a whole scrypt either way. Memory with keys is kept
from core files, debuggers and swap.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import resource
import secrets
import sys
from pathlib import Path

import msgspec

from ledgerd.basics.formats import newer_format
from ledgerd.supervision.this_process import forbid_dumps
from ledgerd.wallet.errors import DamagedWallet, ForeignWallet, WrongPassword

MLOCK_NOW, MLOCK_LATER, MLOCK_ON_USE = 1, 2, 4
"""Flags of `mlockall`: memory that is there now, and memory that comes later; with the third, both only once they are
used, so that nothing is read for it.
"""
ALL_MEMORY = MLOCK_NOW | MLOCK_LATER
LOCKED_BYTES = 512 << 20
"""With a lower limit not all memory is locked: where a limit is reached, the process ends."""
CAPABILITY = 1 << 14
"""`CAP_IPC_LOCK`: no limit."""
STATUS = Path("/proc/self/status")

FORMAT = "ledgerd wallet"
VERSION = 1

SALT_SIZE = 32
NONCE_SIZE = 12
KEY_SIZE = 32
CHECK_SIZE = 16
MOST_MEMORY = 1 << 29
"""Bytes that opening a file may take: the file says how many, and may come from a stranger."""
MOST_PASSES = 16
LARGEST_FILE = 16 << 20
RESTORE = "move it away, and put a backup in its place with `ledgerd wallet restore`"


def protect_memory() -> None:
    """Refuse core files and debuggers from here on, and swap where the limits allow."""
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, "only Linux can keep the keys in memory from other processes")
    forbid_dumps()
    _, most = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (most, most))
    if most == resource.RLIM_INFINITY or most >= LOCKED_BYTES or _has_no_limit():
        library = ctypes.CDLL(None)
        if library.mlockall(ALL_MEMORY | MLOCK_ON_USE) != 0:  # before Linux 4.4 there was no such choice
            library.mlockall(ALL_MEMORY)


def keep_from_swap(secret: bytes) -> None:
    """Lock the pages that hold a secret, which the usual limit has room for; where it has none, swap is the owner's to
    encrypt. They stay locked when the secret is gone: others are beside it.
    """
    if sys.platform == "linux":
        place = ctypes.cast(ctypes.c_char_p(secret), ctypes.c_void_p)
        ctypes.CDLL(None).mlock(place, ctypes.c_size_t(len(secret)))


def _has_no_limit() -> bool:
    try:
        lines = STATUS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    effective = next((line for line in lines if line.startswith("CapEff:")), "CapEff: 0")
    return bool(int(effective.split()[1], 16) & CAPABILITY)


class Cost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The work for one guess of the password: by default 128 MB of memory and about half a second."""

    n: int = 1 << 17
    r: int = 8
    p: int = 1

    @property
    def is_valid(self) -> bool:
        if self.n < 2 or self.n & (self.n - 1) or not 1 <= self.p <= MOST_PASSES or self.r < 1:
            return False
        return 128 * self.n * self.r <= MOST_MEMORY


class Sealed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a wallet's file."""

    format: str
    version: int
    scrypt: Cost
    salt: bytes
    check: bytes
    nonce: bytes
    sealed: bytes

    @property
    def header(self) -> bytes:
        """The part that is not secret, but must not be changed either."""
        return msgspec.json.encode([self.format, self.version, self.scrypt, self.salt, self.check])


class PasswordKey:
    """The key that a password gives for one file. The password itself is not kept."""

    __slots__ = ("_key", "check", "cost", "salt")

    def __init__(self, password: bytes, salt: bytes, cost: Cost) -> None:
        # The library is loaded where a wallet is opened, not by each command that asks the process which has done so.
        from cryptography.hazmat.primitives.kdf.scrypt import Scrypt  # noqa: PLC0415

        made = Scrypt(salt=salt, length=2 * KEY_SIZE, n=cost.n, r=cost.r, p=cost.p).derive(password)
        self._key = made[:KEY_SIZE]
        keep_from_swap(self._key)
        self.check = hashlib.sha256(made[KEY_SIZE:]).digest()[:CHECK_SIZE]
        self.salt = salt
        self.cost = cost

    @classmethod
    def new(cls, password: bytes, cost: Cost) -> PasswordKey:
        return cls(password, secrets.token_bytes(SALT_SIZE), cost)

    @classmethod
    def of(cls, password: bytes, sealed: Sealed) -> PasswordKey:
        made = cls(password, sealed.salt, sealed.scrypt)
        if not secrets.compare_digest(made.check, sealed.check):
            raise WrongPassword("the password is wrong")
        return made

    def is_of(self, sealed: Sealed) -> bool:
        """Whether it is the key of a file: not when the password was changed meanwhile."""
        return (self.salt, self.cost, self.check) == (sealed.salt, sealed.scrypt, sealed.check)

    def seal(self, data: bytes) -> bytes:
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305  # noqa: PLC0415 - as above

        nonce = secrets.token_bytes(NONCE_SIZE)
        empty = Sealed(FORMAT, VERSION, self.cost, self.salt, self.check, nonce, b"")
        sealed = ChaCha20Poly1305(self._key).encrypt(nonce, data, empty.header)
        return msgspec.json.format(msgspec.json.encode(msgspec.structs.replace(empty, sealed=sealed))) + b"\n"

    def unseal(self, sealed: Sealed) -> bytes:
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - as above
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305  # noqa: PLC0415 - as above

        try:
            return ChaCha20Poly1305(self._key).decrypt(sealed.nonce, sealed.sealed, sealed.header)
        except (InvalidTag, ValueError):
            raise DamagedWallet(f"the wallet's file was changed or damaged: {RESTORE}") from None


def read_sealed(raw: bytes) -> Sealed:
    if len(raw) > LARGEST_FILE:
        raise ForeignWallet(f"the file has more than {LARGEST_FILE >> 20} MB: it is no wallet of ledgerd")
    try:
        found = msgspec.json.decode(raw, type=dict[str, object])
        if found.get("format") != FORMAT:
            raise ForeignWallet("the file is no wallet of ledgerd")
        version = found.get("version")
        if isinstance(version, int) and version > VERSION:
            raise ForeignWallet(newer_format("the wallet's file", version, VERSION, found.get("opened_by")))
        sealed = msgspec.json.decode(raw, type=Sealed)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        if FORMAT.encode() in raw[:100]:
            raise DamagedWallet(f"the wallet's file was cut short or damaged: {RESTORE}") from None
        raise ForeignWallet("the file is no wallet of ledgerd") from None
    if sealed.version != VERSION or not sealed.scrypt.is_valid or len(sealed.nonce) != NONCE_SIZE:
        raise DamagedWallet(f"the wallet's file has parameters that no wallet has: {RESTORE}")
    return sealed
