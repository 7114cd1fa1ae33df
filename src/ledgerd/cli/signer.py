"""`ledgerd signer`: holds a validator's key apart from the node, and signs block headers only."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgerd.protocol.errors import OperatorError

if TYPE_CHECKING:
    from ledgerd.producer.signer_place import SignerPlace, TlsFiles
    from ledgerd.protocol.endpoint import Endpoint

NTP_PORT = 123


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    arguments = commands.add_parser(
        "signer",
        help="hold a validator's signing key apart from its node, and sign its blocks",
        description="Holds the signing key of validators, so that their node has none (validator-signer). It signs "
        "block headers only, never two for one slot, whatever it is asked. docs/signer.md tells how to set it up.",
    )
    place = "unix:/PATH, or tls://HOST:PORT where both sides show a certificate"
    arguments.add_argument("--data-dir", type=Path, metavar="DIR", help="the folder of what was signed last")
    arguments.add_argument("--key-file", type=Path, metavar="FILE", help="the private keys, in WIF, one on each line")
    arguments.add_argument(
        "--validator", action="append", default=[], metavar="NAME", help="a validator to sign for; may be repeated"
    )
    arguments.add_argument("--listen", metavar="PLACE", help=place)
    arguments.add_argument(
        "--allow-user",
        action="append",
        default=[],
        metavar="USER",
        help="another user of this machine that may ask over the Unix socket; may be repeated",
    )
    arguments.add_argument("--certificate", type=Path, metavar="FILE", help="our certificate, for tls://")
    arguments.add_argument("--certificate-key", type=Path, metavar="FILE", help="the key of our certificate")
    arguments.add_argument(
        "--authority",
        type=Path,
        metavar="FILE",
        help="the certificates of the other side, or of the authority that has signed them",
    )
    arguments.add_argument(
        "--time-server",
        action="append",
        default=[],
        metavar="HOST",
        help="a time server to check the clock by; nothing is signed before one has answered; may be repeated",
    )
    arguments.add_argument("--ask", metavar="PLACE", help="print how the signer at this place is, and end")
    arguments.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    from ledgerd.producer.signer_place import TlsFiles  # noqa: PLC0415 - not loaded for `--help`

    given = (chosen.certificate, chosen.certificate_key, chosen.authority)
    files = None if None in given else TlsFiles(*given)
    if chosen.ask:
        return _ask(_place(chosen.ask), files)
    missing = [
        name
        for name, value in (
            ("--data-dir", chosen.data_dir),
            ("--key-file", chosen.key_file),
            ("--validator", chosen.validator),
            ("--listen", chosen.listen),
        )
        if not value
    ]
    if missing:
        raise OperatorError(f"missing: {', '.join(missing)}")
    return _serve(chosen, files)


def _serve(chosen: argparse.Namespace, files: TlsFiles | None) -> int:
    from ledgerd.node.config.logging.setup import set_up_logging  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.protocol.endpoint import Endpoint  # noqa: PLC0415
    from ledgerd.protocol.names import AccountName  # noqa: PLC0415
    from ledgerd.signer.process import SignerSettings, run_signer  # noqa: PLC0415

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
    from ledgerd.producer.signer_link import status_of  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.protocol.time_text import time_text  # noqa: PLC0415
    from ledgerd.supervision.main_loop import on_a_loop  # noqa: PLC0415

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
    from ledgerd.producer.signer_place import PlaceFault, read_place  # noqa: PLC0415 - not loaded for `--help`

    try:
        return read_place(text)
    except PlaceFault as fault:
        raise OperatorError(f"{text} {fault}") from None
