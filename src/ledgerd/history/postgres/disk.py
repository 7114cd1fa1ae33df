"""How much the tables take, and what is left on the disk of the server, where that can be known."""

from __future__ import annotations

import os
import shutil
from typing import NamedTuple

from ledgerd.history.postgres.connection import PatientConnection

GIBIBYTE = 1 << 30
LITTLE = 4 * GIBIBYTE
"""Bytes left, below which the operator is told."""

LOCAL = ("localhost", "127.0.0.1", "::1")

_SIZE = "SELECT pg_database_size(current_database())"
_FOLDER = "SELECT setting FROM pg_settings WHERE name = 'data_directory'"


class ServerDisk(NamedTuple):
    """Bytes of the database, and those that are free; None where that cannot be known."""

    used: int
    free: int | None

    @property
    def warning(self) -> str:
        if self.free is None or self.free >= LITTLE:
            return ""
        sizes = self.free / GIBIBYTE, self.used / GIBIBYTE
        return f"{sizes[0]:.2f} GiB are free on the disk of PostgreSQL, whose history takes {sizes[1]:.2f} GiB"


def disk_of(connection: PatientConnection) -> ServerDisk:
    """Ask the server; only a member of `pg_read_all_settings` is told where its data is."""
    ((used,),) = connection.execute(_SIZE).fetchall()
    row = connection.execute(_FOLDER).fetchone()
    host = connection.info.host
    if row is None or not (host.startswith(os.sep) or host in LOCAL):
        return ServerDisk(used, None)
    try:
        return ServerDisk(used, shutil.disk_usage(str(row[0])).free)
    except OSError:
        return ServerDisk(used, None)
