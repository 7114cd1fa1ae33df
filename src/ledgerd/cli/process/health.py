"""`ledgerd --check-health`: asks the running node of a configuration for its health, for service managers."""

from __future__ import annotations

import sys
from http import HTTPStatus
from typing import TYPE_CHECKING

from ledgerd.basics.printable import printable
from ledgerd.client.blocking import page_of

if TYPE_CHECKING:
    from ledgerd.rpc.settings import WebserverSettings

HEALTHY = 0
UNHEALTHY = 1
PATH = "/health"
SECONDS = 5.0
"""The time for the whole answer; a healthy node gives it within milliseconds."""
LONGEST = 4_096
"""Bytes of an answer that are printed."""


def check_health(options: WebserverSettings) -> int:
    endpoint = options.http_endpoint
    if endpoint is None:
        sys.stderr.write("ledgerd: it cannot be known: this configuration has no webserver-http-endpoint\n")
        return UNHEALTHY
    try:
        status, _, body = page_of(endpoint, PATH, SECONDS, LONGEST)
    except OSError as problem:
        reason = printable(str(problem).strip()) or type(problem).__name__
        sys.stderr.write(f"ledgerd: nothing answers on {endpoint}: {reason}\n")
        return UNHEALTHY
    sys.stdout.write(f"{endpoint}{PATH}: {status} {printable(body.decode('utf-8', 'replace').strip())}\n")
    return HEALTHY if status == HTTPStatus.OK else UNHEALTHY
