"""`ledgerd --check-health`: asks the node that runs with a configuration whether it answers, as a supervisor would."""

from __future__ import annotations

import http.client
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledgerd.protocol.endpoint import Endpoint
    from ledgerd.rpc.settings import WebserverSettings

HEALTHY = 0
UNHEALTHY = 1
PATH = "/health"
SECONDS = 5.0
"""A node that answers takes thousandths of one."""

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing is listened on here
"""Addresses that stand for all, and where a node that listens there is reached from its own machine."""


def check_health(options: WebserverSettings) -> int:
    """Say how the node is, and give the exit code."""
    endpoint = options.http_endpoint
    if endpoint is None:
        sys.stderr.write("ledgerd: it cannot be known: this configuration has no webserver-http-endpoint\n")
        return UNHEALTHY
    try:
        status, text = _asked(endpoint)
    except (OSError, http.client.HTTPException) as problem:
        sys.stderr.write(f"ledgerd: nothing answers on {endpoint}: {problem or type(problem).__name__}\n")
        return UNHEALTHY
    sys.stdout.write(f"{endpoint}{PATH}: {status} {text}\n")
    return HEALTHY if status == http.client.OK else UNHEALTHY


def _asked(endpoint: Endpoint) -> tuple[int, str]:
    """The status of the answer, and its text."""
    host = EVERYWHERE.get(endpoint.host, endpoint.host)
    connection = http.client.HTTPConnection(host, endpoint.port, timeout=SECONDS)
    try:
        connection.request("GET", PATH)
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")
    finally:
        connection.close()
