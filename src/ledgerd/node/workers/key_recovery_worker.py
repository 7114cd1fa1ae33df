"""A process that recovers public keys from signatures. It ends at EOF on its socket, so also when the node dies.

`key_recovery` starts it with one end of a socket pair as its standard input.
"""

from __future__ import annotations

import signal
import socket
import struct
import sys
from types import TracebackType

from ledgerd.protocol.keys import NULL_KEY
from ledgerd.protocol.signers import SIGNED_SIZE, signer_of

COUNT = struct.Struct("<I")
"""A request is a count and as many signatures with their digests; the answer, as many keys: zeros stand for none."""

MOST_AT_ONCE = 4096


def serve(plug: socket.socket) -> None:
    """Answer requests until EOF."""
    with plug, plug.makefile("rb") as requests:
        while len(head := requests.read(COUNT.size)) == COUNT.size:
            (count,) = COUNT.unpack(head)
            if not 0 < count <= MOST_AT_ONCE:
                raise ValueError(f"{count} signatures at once")
            signed = requests.read(count * SIGNED_SIZE)
            if len(signed) < count * SIGNED_SIZE:
                return
            starts = range(0, len(signed), SIGNED_SIZE)
            plug.sendall(b"".join(signer_of(signed[at : at + SIGNED_SIZE]) or NULL_KEY for at in starts))


def main() -> None:
    """Serve on standard input. The argument is the form of the log, for the error that ends the process."""
    sys.excepthook = _log_end
    # Ctrl-C sends SIGINT to the whole process group: the node handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        serve(socket.socket(fileno=sys.stdin.fileno()))
    except ConnectionError:
        return


def _log_end(kind: type[BaseException], problem: BaseException, trace: TracebackType | None) -> None:
    from ledgerd.node.config.logging.setup import set_up_child_logging  # noqa: PLC0415 - megabytes, for this alone

    set_up_child_logging("json" if "json" in sys.argv[1:] else "text")
    sys.excepthook(kind, problem, trace)


if __name__ == "__main__":
    main()
