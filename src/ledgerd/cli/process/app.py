"""`ledgerd app`: an application with tables of its own."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ledgerd.cli.arguments.application_arguments import NODE
from ledgerd.node.config.logging.setup import set_up_logging
from ledgerd.node.config.values.endpoints import ENDPOINT
from ledgerd.node.config.values.kind import WrongValue
from ledgerd.protocol.errors import OperatorError

if TYPE_CHECKING:
    from ledgerd.app.declaring.application import Application

FAILED = 1


def run(chosen: argparse.Namespace) -> int:
    if find_spec("sqlalchemy") is None:
        raise OperatorError("applications need a library for their tables: pip install 'ledgerd[app]'")
    from ledgerd.app.declaring.loading import load_application  # noqa: PLC0415 - needs that library

    application = load_application(chosen.file)
    database = chosen.database or f"{application.name}.sqlite"
    if chosen.action == "run":
        return _run(application, database, chosen)
    if chosen.action == "status":
        return _status(application, database)
    return _rebuild(application, database, is_sure=chosen.yes)


def _run(application: Application, database: str, chosen: argparse.Namespace) -> int:
    from ledgerd.app.feeding.settings import FeedSettings  # noqa: PLC0415 - as above
    from ledgerd.app.process import ServedEndpoint, run_application  # noqa: PLC0415

    try:
        http = None if chosen.http is None else ServedEndpoint(ENDPOINT.read(chosen.http), tuple(chosen.allow_origin))
    except WrongValue as problem:
        raise OperatorError(f"--http: {problem}") from None
    settings = FeedSettings(
        nodes=tuple(chosen.node or (NODE,)),
        database=database,
        until=chosen.until,
        handler_seconds=max(0.1, chosen.handler_seconds),
    )
    set_up_logging(None)
    return run_application(application, settings, http)


def _status(application: Application, database: str) -> int:
    from ledgerd.app.tables.opening import read_status  # noqa: PLC0415 - as above

    status = read_status(application, database)
    print(f"{application.name}, version {status.version} in {status.place}")
    print(f"chain {status.chain or 'not known yet'}")
    if status.block is None:
        print("no block was applied yet")
    else:
        print(f"block {status.block.number}, {status.block.id.hex()}; {status.reversible} blocks can be undone")
    return 0


def _rebuild(application: Application, database: str, *, is_sure: bool) -> int:
    from ledgerd.app.tables.opening import remove_tables  # noqa: PLC0415 - as above

    if not is_sure:
        if not sys.stdin.isatty():
            raise OperatorError(f"this removes all tables of {application.name} in {database}: say so with --yes")
        if input(f"Remove all tables of {application.name} in {database}? [y/N] ").strip().lower() != "y":
            return FAILED
    remove_tables(application, database)
    print(f"the tables of {application.name} are removed: ledgerd app run makes them again")
    return 0
