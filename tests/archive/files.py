"""Archives, directories without their past, and a web server, for tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from ledgerd.archive.writer import ArchiveWriter
from ledgerd.chain.log.block_log import FULL_LOG
from ledgerd.chain.log.files import STATE_FOLDER, paths_of, sums_path
from ledgerd.chain.log.rolling import RollingBlockLog
from ledgerd.chain.log.state_blocks import LATEST, LOG_KIND
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from tests.chain.replays import copy_replayed
from tests.recorded import recorded_blocks

CHAIN, HEAD, FIRST_KEPT, RANGE = "open-main", 900, 421, 100
"""A recorded chain, and the first block that a directory without its past has."""


def write_archive(folder: Path, blocks: Sequence[bytes], size: int, first: int = 1) -> None:
    """Archive blocks as the node does."""
    writer = ArchiveWriter(folder, size)
    for number, packed in enumerate(blocks, first):
        writer.append(number, packed)
    writer.close()


def without_past(folder: Path, chain: str = CHAIN, head: int = HEAD, first: int = FIRST_KEPT) -> Path:
    """The data directory of a chain whose log begins in the middle; returns the folder of its state and its log."""
    copy_replayed(chain, head, folder)
    logs = folder / STATE_FOLDER
    for path in (*paths_of(logs, FULL_LOG), sums_path(logs, FULL_LOG)):
        path.unlink()
    with Store.open(logs, STORED_TABLES) as store:
        store.set_meta(LOG_KIND, LATEST)
        store.commit()
        irreversible = store.get(DYNAMIC_GLOBAL_PROPERTIES, 0).last_irreversible_block_num
    log = RollingBlockLog.open(logs)
    for number, packed in enumerate(recorded_blocks(chain)[first - 1 : irreversible], first):
        log.append(number, packed)
    log.close()
    return logs


class CountingHandler(SimpleHTTPRequestHandler):
    """Files of a folder; continues one, and breaks off as often as it is told."""

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""

    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, FileServer)
        path = Path(self.translate_path(self.path))
        server.asked.append((self.path, self.headers.get("Range", "")))
        if server.redirects:
            self.send_response(302)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if not path.is_file():
            self.send_error(404)
            return
        if server.is_endless and path.suffix == ".log":
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):
                while True:
                    self.wfile.write(bytes(1 << 16))
            self.close_connection = True
            return
        content = path.read_bytes()
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").removesuffix("-"))
        if start and start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if server.drips and path.suffix in {".log", ""}:
            self._drip(server.drips)
            return
        if server.stalls and path.suffix == ".log":
            server.stalls.wait()
            self.close_connection = True
            return
        if server.breaks and path.suffix == ".log":
            server.breaks -= 1
            self.wfile.write(content[start : start + (len(content) - start) // 2])
            self.close_connection = True
            return
        self.wfile.write(content[start:])

    def _drip(self, until: threading.Event) -> None:
        """A byte at a time."""
        self.close_connection = True
        with suppress(OSError):
            while not until.wait(0.005):
                self.wfile.write(b"0")


class FileServer(ThreadingHTTPServer):
    """A plain web server."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), partial(CountingHandler, directory=str(folder)))
        self.asked: list[tuple[str, str]] = []
        self.breaks = 0
        self.redirects = False
        self.is_endless = False
        self.drips: threading.Event | None = None
        """It sends a file a byte at a time until this is set."""
        self.stalls: threading.Event | None = None
        """It sends the head of a file, and no byte of it until this is set."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def served(folder: Path) -> Iterator[FileServer]:
    """A folder on a web server."""
    server = FileServer(folder)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
