"""Whether a request from this machine is the operator's own, or of a proxy which does not say who its visitor is."""

from __future__ import annotations

from ledgerd.rpc.http.gate import Gate
from ledgerd.rpc.http.reader import Request

MARKS = frozenset((b"forwarded", b"via", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip"))
"""Headers that programs of this machine do not send, and proxies do."""
_THIS_MACHINE = Gate((), ())
"""Knows the names of this machine alone."""


def is_of_operator(request: Request) -> bool:
    """Whether nothing in it is of a proxy: it names this machine, and keeps the connection, as browsers, curl and
    Prometheus do.
    """
    host = request.headers.get(b"host")
    if host is None or not request.keeps_open or not MARKS.isdisjoint(request.headers):
        return False
    return _THIS_MACHINE.admits({b"host": host})
