"""Sockets that listen at a path or at an address, and who is at the other end of a connection."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import stat
from hashlib import sha256
from pathlib import Path

from ledgerd.basics.addresses import connected_user
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.endpoint import Endpoint

BACKLOG = 64
"""Connections that wait to be accepted."""
ALL_MODES = 0o777


def certificate_of(transport: asyncio.BaseTransport) -> str:
    secured = transport.get_extra_info("ssl_object")
    shown = None if secured is None else secured.getpeercert(binary_form=True)
    return "" if shown is None else f"certificate {sha256(shown).hexdigest()}"


def user_of(descriptor: int) -> int:
    """The user at the other end of a Unix socket."""
    with socket.socket(fileno=os.dup(descriptor)) as sock:
        return connected_user(sock)


def listening_socket(endpoint: Endpoint, scheme: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
    try:
        return socket.create_server(endpoint, family=family, backlog=BACKLOG)
    except OSError as problem:
        raise OperatorError(f"{scheme}://{endpoint} cannot be listened on: {problem.strerror}") from problem


def bound_socket(path: Path, mode: int, option: str = "--listen") -> socket.socket:
    """A socket at a path, which an option names; a file that a process of ours has left there goes."""
    _make_room(path, option)
    sock, before = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM), os.umask(ALL_MODES & ~mode)
    try:
        sock.bind(str(path))
    except OSError as problem:
        sock.close()
        raise OperatorError(f"{path} cannot be listened on: {problem.strerror}") from problem
    finally:
        os.umask(before)
    return sock


def _make_room(path: Path, option: str) -> None:
    """Remove a socket of ours that nobody listens on; anything else that is there stays, and is said."""
    try:
        found = path.lstat()
    except OSError:
        return
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
        raise OperatorError(f"{path} exists, and is no socket of this user: remove it, or choose another {option}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except OSError as problem:
            if problem.errno != errno.EAGAIN:  # it listens, and has more to accept than it can
                raise OperatorError(f"{path} cannot be listened on: {problem.strerror}") from problem
    raise OperatorError(f"another program listens on {path}: stop that one, or choose another {option}")
