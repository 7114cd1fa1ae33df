"""Two chains that part, as block logs and as nodes that answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from ledgerd.chain.log.files import OFFSET
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block, BlockHeader, sign_block
from ledgerd.protocol.crypto.keys import PrivateKey
from tests.recorded import recorded_blocks

KEY = PrivateKey(b"k" * 32)


def recorded(count: int) -> list[Block]:
    return [codec_of(Block).decode_exactly(packed) for packed in recorded_blocks("open-2")[:count]]


def parted(chain: list[Block], at: int, count: int) -> list[Block]:
    """Another chain of so many blocks, with the same blocks up to one of them."""
    other = chain[:at]
    for block in chain[at:count]:
        previous = other[-1].id if other else block.previous
        header = BlockHeader(previous, block.timestamp, "mallory", block.transaction_merkle_root, ())
        other.append(sign_block(header, (), KEY))
    return other


def log_of(path: Path, blocks: Sequence[Block]) -> str:
    """A block log: each block, and after it the place where it began."""
    data = b""
    for block in blocks:
        data += block.packed + OFFSET.pack(len(data))
    path.write_bytes(data)
    return str(path)


@contextmanager
def answering(answer: Callable[[bytes], bytes]) -> Iterator[str]:
    """The address of something that answers each POST so."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told = answer(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def node_with(blocks: Sequence[Block], first: int = 1) -> Iterator[str]:
    """Something that answers as a node with these blocks would; it has none before the first."""

    def result(method: str, number: int = 0) -> Any:
        if method == "get_dynamic_global_properties":
            return {"head_block_number": len(blocks)}
        return json.loads(codec_of(Block).to_json(blocks[number - 1])) if first <= number <= len(blocks) else None

    def answer(request: bytes) -> bytes:
        _, method, arguments = json.loads(request)["params"]
        return json.dumps({"id": 1, "result": result(method, *arguments)}).encode()

    with answering(answer) as address:
        yield address
