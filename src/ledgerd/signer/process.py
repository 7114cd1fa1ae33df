"""The process of a signer: its keys, locks, clock and sockets, from the start to a clean stop."""

from __future__ import annotations

import logging
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from ledgerd.producer.settings import NtpSettings, keyring
from ledgerd.producer.signing.key_files import KeyFileFault, read_key_file
from ledgerd.producer.signing.signer_place import PlaceFault, SignerPlace, TlsFiles, tls_context
from ledgerd.producer.signing.signing_frames import MOST_NAMED
from ledgerd.producer.time.ntp_client import NtpClient
from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey, public_key_text
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import time_text
from ledgerd.signer.clients import Clients
from ledgerd.signer.folder import SignerFolder, lock_key, lock_key_file
from ledgerd.signer.rule import CheckedClock, SigningRule
from ledgerd.signer.service import SigningService
from ledgerd.signer.serving import PathListener, TlsListener, listen_on_path
from ledgerd.supervision.part import Part, run_part, stop_signals
from ledgerd.supervision.this_process import forbid_dumps, on_a_loop
from ledgerd.supervision.work import Ending, Work

log = logging.getLogger(__name__)

STOPPED = 0


class SignerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a signer."""

    folder: Path
    key_file: Path
    validators: tuple[AccountName, ...]
    place: SignerPlace
    users: tuple[str, ...] = ()
    """Users of this machine that may ask, besides the signer's own and root."""
    files: TlsFiles | None = None
    time_servers: tuple[Endpoint, ...] = ()


def run_signer(settings: SignerSettings) -> int:
    forbid_dumps()
    with ExitStack() as stack:
        folder = stack.enter_context(SignerFolder(settings.folder))
        with unsigned(folder):
            stack.enter_context(lock_key_file(settings.key_file))
            keys = keys_of(settings.key_file)
            if max(len(keys), len(settings.validators)) > MOST_NAMED:
                raise OperatorError(f"a signer has at most {MOST_NAMED} validators and keys: use a second one too")
            for key in keys:
                stack.enter_context(lock_key(key))
        return on_a_loop(lambda: live(settings, folder, keys))


@contextmanager
def unsigned(folder: SignerFolder) -> Iterator[None]:
    """A failure within the block means that nothing was signed: the next start need not wait for a round."""
    try:
        yield
    except OperatorError:
        if folder.has_stopped_cleanly:
            folder.mark_clean()
        raise


def keys_of(path: Path) -> dict[PublicKey, PrivateKey]:
    try:
        found = read_key_file(path)
    except KeyFileFault as fault:
        raise OperatorError(str(fault)) from None
    if found.is_open_to_others:
        raise OperatorError(f"others than its owner may open {path}: `chmod 600 {path}`, and replace the key if needed")
    if not found.keys:
        raise OperatorError(f"{path} holds no key: `ledgerd key {path}` makes one")
    return keyring(found.keys)


async def live(settings: SignerSettings, folder: SignerFolder, keys: dict[PublicKey, PrivateKey]) -> int:
    await run_part(SignerPart(settings, folder, keys), stop_signals().wait)
    folder.mark_clean()
    log.info("the signer has stopped cleanly")
    return STOPPED


class SignerPart(Part):
    """Everything of a signer that runs."""

    def __init__(self, settings: SignerSettings, folder: SignerFolder, keys: dict[PublicKey, PrivateKey]) -> None:
        super().__init__(Work("signer", Ending.ENDS_PROGRAM))
        self._settings, self._folder = settings, folder
        self._ntp = NtpClient(NtpSettings(servers=settings.time_servers), _wall) if settings.time_servers else None
        rule = SigningRule(keys, settings.validators, folder.record, has_stopped_cleanly=folder.has_stopped_cleanly)
        clock = CheckedClock(lambda: time.monotonic_ns() // 1000, _wall, self._offset())
        self._service = SigningService(rule, clock, settings.validators, keys)
        self._clients = Clients()
        self._listening: PathListener | socket.socket | None = None
        self._about = (
            f"{', '.join(settings.validators)} with {', '.join(map(public_key_text, sorted(keys)))}",
            time_text(rule.last_slot) if rule.last_slot else "none",
        )

    def _offset(self) -> Callable[[], int | None]:
        ntp = self._ntp
        return (lambda: 0) if ntp is None else (lambda: ntp.known.offset)

    async def start(self) -> None:
        settings = self._settings
        if self._ntp is not None:
            ntp = self._ntp
            self.work.keep("time servers", lambda _: ntp.run(self.work))
        with unsigned(self._folder):
            self._listening = await self._listen(settings)
        about, last = self._about
        log.info(
            "the signer of %(validators)s listens on %(place)s; the slot that it signed last: %(slot)s",
            {"validators": about, "place": str(settings.place), "slot": last},
        )
        problem = self._service.problem
        if problem:
            log.warning("nothing is signed yet: %(reason)s", {"reason": problem})

    async def _listen(self, settings: SignerSettings) -> PathListener | socket.socket:
        place = settings.place
        if place.path is not None:
            users = {os.getuid(), 0, *map(_number_of, settings.users)}
            return await listen_on_path(place.path, self._service, self._clients, users)
        if place.endpoint is None or settings.files is None:
            raise OperatorError("tls:// needs --certificate, --certificate-key and --authority")
        try:
            context = tls_context(settings.files, is_signer=True)
        except PlaceFault as fault:
            raise OperatorError(str(fault)) from fault
        listener = TlsListener(self._service, self._clients, context, self.work)
        return listener.listen(place.endpoint)

    async def stop(self) -> None:
        await self.work.stop()
        if self._listening is not None:
            self._listening.close()
        self._clients.close_all()


def _number_of(user: str) -> int:
    if sys.platform != "linux":
        raise OperatorError("--allow-user needs Linux: run the node and the signer as one user, or use tls://")
    import pwd  # noqa: PLC0415 - not on every platform

    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        raise OperatorError(f"there is no user {user} on this machine") from None


def _wall() -> int:
    return time.time_ns() // 1000
