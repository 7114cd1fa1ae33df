"""`ledgerd --check-health`: asks the running node of a configuration for its health, for service managers."""

from __future__ import annotations

import http.client
import sys
from typing import TYPE_CHECKING

from ledgerd.basics.printable import printable
from ledgerd.client.timely import Deadline, TimelyHTTPConnection

if TYPE_CHECKING:
    from ledgerd.protocol.endpoint import Endpoint
    from ledgerd.rpc.settings import WebserverSettings

HEALTHY = 0
UNHEALTHY = 1
PATH = "/health"
SECONDS = 5.0
"""For the whole answer; a healthy node gives it within milliseconds."""
LONGEST = 4_096
"""Bytes of an answer that are printed."""

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing is listened on here
"""Wildcard addresses, and the loopback address at which a node that listens there is reached."""


def check_health(options: WebserverSettings) -> int:
    endpoint = options.http_endpoint
    if endpoint is None:
        sys.stderr.write("ledgerd: it cannot be known: this configuration has no webserver-http-endpoint\n")
        return UNHEALTHY
    try:
        status, text = _asked(endpoint)
    except (OSError, http.client.HTTPException) as problem:
        reason = printable(str(problem).strip()) or type(problem).__name__
        sys.stderr.write(f"ledgerd: nothing answers on {endpoint}: {reason}\n")
        return UNHEALTHY
    sys.stdout.write(f"{endpoint}{PATH}: {status} {printable(text.strip())}\n")
    return HEALTHY if status == http.client.OK else UNHEALTHY


def _asked(endpoint: Endpoint) -> tuple[int, str]:
    host = EVERYWHERE.get(endpoint.host, endpoint.host)
    connection = TimelyHTTPConnection(host, endpoint.port)
    connection.deadline = Deadline()
    connection.deadline.set(SECONDS)
    try:
        connection.request("GET", PATH)
        answer = connection.getresponse()
        return answer.status, answer.read(LONGEST).decode("utf-8", "replace")
    finally:
        connection.close()
