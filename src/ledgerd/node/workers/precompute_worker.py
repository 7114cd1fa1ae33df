"""A process that precomputes what the bytes of blocks decide. It ends at EOF on its socket, so also when the node dies.

`precompute_pool` and `log_reading` start it with one end of a socket pair as its standard input. It is told
in frames: first the constants of the network, then requests: the number of a block up to which the signers of
transactions are not wanted, and some packed blocks one after the other. An answer has their results in that order.
"""

from __future__ import annotations

import signal
import socket
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType

import msgspec

from ledgerd.basics.framing.frames import CutOff, framed, read_frame
from ledgerd.codec import DecodeError, codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.precomputed import precompute
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.supervision.this_process import search_rarely

MOST_BYTES = 8 << 20
"""The most bytes of a request. Its answer is smaller, unless nobody has signed the transactions of its blocks."""
MOST_RESULTS = 4 * MOST_BYTES
"""Bytes of the results for one request."""

_NUMBER = struct.Struct("<I")


def introduction(network: ChainParameters) -> bytes:
    return msgspec.msgpack.encode(network)


def request(packed: Sequence[bytes], signers_above: int = 0) -> bytes:
    return _NUMBER.pack(signers_above) + b"".join(packed)


def serve(connection: socket.socket) -> None:
    with connection, suppress(CutOff):
        first = read_frame(connection.recv, MOST_BYTES)
        if first is None:
            return  # the node was killed before it had said which chain this is
        network = msgspec.msgpack.decode(first, type=ChainParameters)
        while (asked := read_frame(connection.recv, MOST_BYTES)) is not None:
            connection.sendall(framed(results_for(asked, network)))


def results_for(asked: bytes, network: ChainParameters) -> bytes:
    """The results for a request; of blocks after one that cannot be decoded there are none."""
    (signers_above,), place = _NUMBER.unpack_from(asked), _NUMBER.size
    read, results = codec_of(Block).decode_from, []
    while place < len(asked):
        try:
            block, place = read(asked, place)
        except DecodeError:
            break
        results.append(precompute(block, network, with_signers=block.number > signers_above))
    return b"".join(results)


def main() -> None:
    """Serve on standard input. The argument is the form of the log, for the error that ends the process."""
    sys.excepthook = _log_end
    # Ctrl-C sends SIGINT to the whole process group: the node handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    search_rarely()
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
