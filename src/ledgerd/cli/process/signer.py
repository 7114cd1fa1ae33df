"""`ledgerd signer`: holds a validator's key apart from the node, and signs block headers only."""

from __future__ import annotations

import argparse
import sys

from ledgerd.node.config.logging.setup import set_up_logging
from ledgerd.producer.signing.signer_link import status_of
from ledgerd.producer.signing.signer_place import PlaceFault, SignerPlace, TlsFiles, read_place
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import time_text
from ledgerd.signer.process import SignerSettings, run_signer
from ledgerd.supervision.this_process import on_a_loop

NTP_PORT = 123


def run(chosen: argparse.Namespace) -> int:
    given = (chosen.certificate, chosen.certificate_key, chosen.authority)
    files = None if None in given else TlsFiles(*given)
    if chosen.ask:
        return _ask(_place(chosen.ask), files)
    needed = ("data_dir", "key_file", "validator", "listen")
    missing = [f"--{name.replace('_', '-')}" for name in needed if not getattr(chosen, name)]
    if missing:
        raise OperatorError(f"missing: {', '.join(missing)}")
    return _serve(chosen, files)


def _serve(chosen: argparse.Namespace, files: TlsFiles | None) -> int:
    place = _place(chosen.listen)
    if place.path is None and chosen.allow_user:
        raise OperatorError("--allow-user is for unix:/PATH: over tls:// the certificate says who may ask")
    servers: tuple[Endpoint, ...] = tuple(Endpoint(host, NTP_PORT) for host in chosen.time_server)
    settings = SignerSettings(
        folder=chosen.data_dir,
        key_file=chosen.key_file,
        validators=tuple(map(AccountName, chosen.validator)),
        place=place,
        users=tuple(chosen.allow_user),
        files=files,
        time_servers=servers,
    )
    set_up_logging(None)
    return run_signer(settings)


def _ask(place: SignerPlace, files: TlsFiles | None) -> int:
    status, problem = on_a_loop(lambda: status_of(place, files))
    if status is None:
        raise OperatorError(f"the signer at {place} cannot be asked: {problem}")
    sys.stdout.write(
        f"validators: {' '.join(status.validators)}\n"
        f"keys:       {' '.join(status.keys)}\n"
        f"last slot:  {time_text(status.last_slot) if status.last_slot else 'none'}\n"
        f"signs:      {'no: ' + status.problem if status.problem else 'yes'}\n"
    )
    return 0


def _place(text: str) -> SignerPlace:
    try:
        return read_place(text)
    except PlaceFault as fault:
        raise OperatorError(f"{text} {fault}") from None
