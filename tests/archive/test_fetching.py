"""The past of a directory that began with a snapshot, fetched from a web server, proven, and read by everybody."""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from ledgerd.archive.errors import ArchiveRefused, ArchiveUnwritable, SourceFault
from ledgerd.archive.fetching import ARRIVING, Fetch, FetchProgress
from ledgerd.archive.known import known_blocks
from ledgerd.archive.peers import REFUSALS, PeerArchive
from ledgerd.archive.proof import check_archive
from ledgerd.archive.sealed import LIST_NAME, ArchivedBlocks, SealedFile, list_sums, listed, sealed_files
from ledgerd.archive.web import WebArchive
from ledgerd.chain.log.files import LogDamaged
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.p2p.wire.messages import GetBlockRange, range_reply_frame
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.state.files.lock import lock_writer, swapping
from tests.archive.files import CHAIN, FIRST_KEPT, RANGE, FileServer, served, without_past, write_archive
from tests.node.killing import Serving
from tests.p2p.socket_peers import Pieces, SocketPeer, honest, stalling
from tests.recorded import recorded_blocks


@pytest.fixture
def others(tmp_path: Path) -> Path:
    """The archive of somebody who has every block."""
    folder = tmp_path / "others"
    write_archive(folder, recorded_blocks(CHAIN), RANGE)
    return folder


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return without_past(tmp_path / "ours")


def fetch(server: FileServer, logs: Path, lowest: int = 1) -> tuple[int, list[FetchProgress]]:
    said: list[FetchProgress] = []
    archive = logs.parent / "block-archive"
    web = WebArchive(server.url, RANGE)
    try:
        with known_blocks(logs, logs, archive) as known:
            return Fetch(archive, known, web, said.append).run(lowest), said
    finally:
        web.close()


def is_whole(logs: Path) -> None:
    """Every block can be read through the log, and the archive has nothing else."""
    log = RollingBlockLogReader.open(logs)
    log.earlier = past = ArchivedBlocks(logs.parent / "block-archive")
    assert log.earliest_number == 1
    last = log.head_number
    assert [*log.scan(1, last)] == [*enumerate(recorded_blocks(CHAIN)[:last], 1)]
    assert [log.read(number) for number in (0, 1, 420, 421)] == [
        None,
        *(recorded_blocks(CHAIN)[number - 1] for number in (1, 420, 421)),
    ]
    assert not [*(logs.parent / "block-archive" / ARRIVING).iterdir()]
    past.close()
    log.close()


def test_the_whole_past_is_fetched(others: Path, logs: Path) -> None:
    with served(others) as server:
        reached, said = fetch(server, logs)
        assert reached == 1
        assert said[0] == FetchProgress(0, FIRST_KEPT - 1)
        assert said[-1] == FetchProgress(FIRST_KEPT - 1, FIRST_KEPT - 1)
        count = len(server.asked)
        assert fetch(server, logs)[0] == 1
        assert len(server.asked) == count + 1, "only the list is asked for again"
    is_whole(logs)
    assert sealed_files(logs.parent / "block-archive")[-1] == SealedFile(400, 499), "the file that overlaps the log"


def test_a_server_without_a_list_is_asked_by_names(others: Path, logs: Path) -> None:
    (others / LIST_NAME).unlink()
    with served(others) as server:
        assert fetch(server, logs)[0] == 1
    is_whole(logs)


def test_only_what_is_wanted_is_fetched(others: Path, logs: Path) -> None:
    with served(others) as server:
        assert fetch(server, logs, 250)[0] == 200
        assert fetch(server, logs)[0] == 1
    is_whole(logs)


def test_a_file_that_breaks_off_is_continued(others: Path, logs: Path) -> None:
    with served(others) as server:
        server.breaks = 2
        assert fetch(server, logs)[0] == 1
        ranges = [given for path, given in server.asked if given]
    assert len(ranges) == 2
    is_whole(logs)


def test_a_fetch_that_ended_in_the_middle_goes_on(others: Path, logs: Path) -> None:
    with served(others) as server:
        server.breaks = 3
        with pytest.raises(SourceFault, match="does not answer"):
            fetch(server, logs)
        assert len([*(logs.parent / "block-archive" / ARRIVING).iterdir()]) == 1
        assert fetch(server, logs)[0] == 1
    is_whole(logs)


def test_a_source_that_lacks_the_beginning_gives_what_it_has(others: Path, logs: Path) -> None:
    (others / SealedFile(1, 99).name).unlink()
    (others / LIST_NAME).unlink()
    with served(others) as server:
        assert fetch(server, logs)[0] == 100


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def test_a_flipped_bit_is_found_by_the_list_or_by_the_blocks(others: Path, logs: Path) -> None:
    flip(others / SealedFile(200, 299).name)
    with served(others) as server:
        with pytest.raises(SourceFault, match=LIST_NAME):
            fetch(server, logs)
        (others / LIST_NAME).unlink()
        with pytest.raises(ArchiveRefused, match=r"blocks-0000000200-0000000299\.log"):
            fetch(server, logs)
    assert sealed_files(logs.parent / "block-archive") == [SealedFile(300, 399), SealedFile(400, 499)]


def test_another_chain_is_refused(tmp_path: Path, logs: Path) -> None:
    write_archive(tmp_path / "foreign", recorded_blocks("open-1")[:600], RANGE)
    with served(tmp_path / "foreign") as server, pytest.raises(ArchiveRefused, match="another block of that number"):
        fetch(server, logs)
    assert sealed_files(logs.parent / "block-archive") == []


def test_a_lying_server_gives_files_that_are_proven_to_be_others(others: Path, logs: Path) -> None:
    shutil.copy(others / SealedFile(300, 399).name, others / SealedFile(400, 499).name)
    (others / LIST_NAME).unlink()
    with served(others) as server, pytest.raises(ArchiveRefused, match="block 300 is in its place"):
        fetch(server, logs)


def test_a_server_that_redirects_or_lists_without_end_is_refused(
    others: Path, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(others) as server:
        server.redirects = True
        with pytest.raises(SourceFault, match="302"):
            fetch(server, logs)
        server.redirects = False
        monkeypatch.setattr("ledgerd.archive.web.MOST_BYTES", 100)
        with pytest.raises(SourceFault, match="more than 100 bytes"):
            fetch(server, logs)


def test_a_file_without_end_is_cut_at_what_its_blocks_can_have(
    others: Path, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (others / LIST_NAME).unlink()
    monkeypatch.setattr("ledgerd.archive.sealed.LARGEST_ENTRY", 5_000)
    with served(others) as server:
        server.is_endless = True
        with pytest.raises(SourceFault, match="more bytes than its blocks can have"):
            fetch(server, logs)
        [arrived] = (logs.parent / "block-archive" / ARRIVING).iterdir()
        assert arrived.stat().st_size <= SealedFile(400, 499).most_bytes
        server.is_endless = False
        assert fetch(server, logs)[0] == 1
    is_whole(logs)


def test_a_file_of_more_bytes_than_its_blocks_can_have_is_not_begun(
    others: Path, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.archive.sealed.LARGEST_ENTRY", 50)
    with served(others) as server, pytest.raises(SourceFault, match="more bytes than its blocks can have"):
        fetch(server, logs)
    assert not [*(logs.parent / "block-archive" / ARRIVING).iterdir()]


def test_a_file_of_too_many_blocks_is_not_asked_for(others: Path, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.archive.fetching.MOST_BLOCKS", RANGE - 1)
    with served(others) as server:
        with pytest.raises(ArchiveRefused, match="100 blocks: more than 99"):
            fetch(server, logs)
        assert len(server.asked) == 1, "only the list"


def test_a_server_that_sends_nothing_is_given_up_in_time(
    others: Path, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(others) as server:
        server.stalls = threading.Event()
        with monkeypatch.context() as patch:
            patch.setattr("ledgerd.archive.web.SECONDS", 0.1)
            with pytest.raises(SourceFault, match=r"does not answer: .*timed out"):
                fetch(server, logs)
        server.stalls.set()
        server.stalls = None
        assert fetch(server, logs)[0] == 1
    is_whole(logs)


def test_a_server_that_drips_is_given_up(others: Path, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(others) as server:
        for has_list in (True, False):
            server.drips = threading.Event()
            with monkeypatch.context() as patch:
                patch.setattr("ledgerd.archive.arriving.SPAN_SECONDS", 0.2)
                with pytest.raises(SourceFault, match="too slow"):
                    fetch(server, logs)
            server.drips.set()
            if has_list:
                (others / LIST_NAME).unlink()
        server.drips = None
        assert fetch(server, logs)[0] == 1
    is_whole(logs)


def test_a_disk_that_becomes_full_is_said_and_nothing_is_lost(others: Path, logs: Path) -> None:
    arriving = logs.parent / "block-archive" / ARRIVING
    arriving.mkdir(parents=True)
    (arriving / SealedFile(300, 399).name).symlink_to("/dev/full")
    with served(others) as server:
        assert fetch(server, logs, 400)[0] == 400
        (arriving / SealedFile(300, 399).name).symlink_to("/dev/full")
        with pytest.raises(ArchiveUnwritable, match="No space left"):
            fetch(server, logs)
        (arriving / SealedFile(300, 399).name).unlink()
        assert fetch(server, logs)[0] == 1
    is_whole(logs)


def test_one_process_fetches_at_a_time(others: Path, logs: Path) -> None:
    archive = logs.parent / "block-archive"
    archive.mkdir()
    with served(others) as server:
        with lock_writer(archive), pytest.raises(ArchiveUnwritable, match=rf"another .* \(process {os.getpid()}\)"):
            fetch(server, logs)
        assert fetch(server, logs)[0] == 1
    is_whole(logs)


def test_the_list_is_written_by_one_after_the_other(others: Path) -> None:
    (others / LIST_NAME).unlink()
    thread = threading.Thread(target=list_sums, args=(others,))
    hidden, name = others / "hidden", SealedFile(200, 299).name
    (others / name).rename(hidden)
    with swapping(others):
        thread.start()
        thread.join(0.05)
        assert thread.is_alive()
        hidden.rename(others / name)
    thread.join(30)
    assert [*listed((others / LIST_NAME).read_text())] == sealed_files(others)


def serving_peer(logs: Path, packed: Sequence[bytes], answer: Pieces) -> None:
    """Fetch from a peer that answers like this."""
    archive = logs.parent / "block-archive"
    peer = Serving(packed, answer)
    try:
        with (
            known_blocks(logs, logs, archive) as known,
            closing(PeerArchive(peer.endpoint, known, RANGE)) as source,
        ):
            Fetch(archive, known, source).run()
    finally:
        peer.stop()


def test_a_peer_that_lies_or_sends_nothing_is_refused_and_an_honest_one_gives_all(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = recorded_blocks(CHAIN)

    async def others_in_their_place(peer: SocketPeer, request: GetBlockRange) -> bytes:
        return await honest(peer, GetBlockRange(request.start_block_num + 1, request.end_block_num + 1, NO_BLOCK))

    with pytest.raises(SourceFault, match="was asked for block 400, and sends 401"):
        serving_peer(logs, blocks, others_in_their_place)
    foreign = (*recorded_blocks("open-1")[:420], *blocks[420:])
    with pytest.raises(ArchiveRefused, match="another block of that number"):
        serving_peer(logs, foreign, honest)
    with monkeypatch.context() as patch:
        patch.setattr("ledgerd.archive.peers.SECONDS", 1.0)
        with pytest.raises(SourceFault, match=r"does not answer: .*timed out"):
            serving_peer(logs, blocks, stalling)
    assert sealed_files(logs.parent / "block-archive") == []

    async def one_at_a_time(peer: SocketPeer, request: GetBlockRange) -> bytes:
        return await honest(peer, GetBlockRange(request.start_block_num, request.start_block_num, NO_BLOCK))

    with monkeypatch.context() as patch:
        patch.setattr("ledgerd.archive.arriving.SPAN_SECONDS", 0.0)
        with pytest.raises(SourceFault, match="fewer than 60 blocks"):
            serving_peer(logs, blocks, one_at_a_time)
    serving_peer(logs, blocks, honest)
    is_whole(logs)


def test_what_one_peer_gives_up_another_goes_on_with(logs: Path) -> None:
    asked: list[int] = []

    async def with_a_hole(peer: SocketPeer, request: GetBlockRange) -> bytes:
        blocks = [*enumerate(peer.reply(request), request.start_block_num)]
        return range_reply_frame([packed for number, packed in blocks if number != 413], 0, is_last=False)

    async def noted(peer: SocketPeer, request: GetBlockRange) -> bytes:
        asked.append(request.start_block_num)
        return await honest(peer, request)

    with pytest.raises(SourceFault, match="was asked for block 413, and sends 414"):
        serving_peer(logs, recorded_blocks(CHAIN), with_a_hole)
    (arriving,) = (logs.parent / "block-archive" / ARRIVING).iterdir()
    with arriving.open("r+b") as torn:
        torn.truncate(arriving.stat().st_size - 3)
    serving_peer(logs, recorded_blocks(CHAIN), noted)
    assert asked == [412, 300, 200, 100, 1]
    is_whole(logs)


def test_a_peer_that_has_nothing_to_send_is_asked_so_often(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    async def nothing(_peer: SocketPeer, request: GetBlockRange) -> bytes:
        asked.append(request.start_block_num)
        return range_reply_frame([], request.end_block_num + 1, is_last=False)

    monkeypatch.setattr("ledgerd.archive.peers.PAUSE_SECONDS", 0.0)
    with pytest.raises(SourceFault, match="does not send block 400"):
        serving_peer(logs, recorded_blocks(CHAIN), nothing)
    assert asked == [400] * (REFUSALS + 1)


@pytest.mark.parametrize("suffix", [".index", ".sums"])
def test_a_flipped_bit_beside_the_blocks_gives_an_error_or_the_right_block(
    others: Path, logs: Path, suffix: str
) -> None:
    with served(others) as server:
        fetch(server, logs)
    archive = logs.parent / "block-archive"
    path = archive / f"{SealedFile(200, 299).name}{suffix}"
    flip(path)
    blocks, past = recorded_blocks(CHAIN), ArchivedBlocks(archive)
    wrong = 0
    for number in range(200, 300):
        try:
            assert past.read(number) == blocks[number - 1]
        except LogDamaged as problem:
            assert "ledgerd archive fetch" in str(problem)  # noqa: PT017 - most blocks are read
            wrong += 1
    assert wrong <= 2
    past.close()
    with known_blocks(logs, logs, archive) as known:
        faults = [*check_archive(archive, known)]
    assert bool(faults) is (suffix == ".index")


def test_a_full_disk_is_told_before_the_file_is_fetched(
    others: Path, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.archive.fetching.SPARE_BYTES", shutil.disk_usage(logs).total)
    with served(others) as server, pytest.raises(SourceFault, match="the disk has 0 MB"):
        fetch(server, logs)


def test_a_whole_log_needs_no_archive(tmp_path: Path) -> None:
    logs = without_past(tmp_path)
    for name in ("", ".index"):
        (logs / f"dlt_block_log{name}").rename(logs / f"block_log{name}")
    with pytest.raises(OperatorError), known_blocks(logs, logs, tmp_path / "block-archive"):
        pass


def test_a_log_that_is_not_the_states_is_refused(logs: Path, tmp_path: Path) -> None:
    flip(logs / "dlt_block_log")
    with pytest.raises(OperatorError), known_blocks(logs, logs, tmp_path / "block-archive"):
        pass


def test_the_list_is_what_sha256sum_writes(others: Path) -> None:
    text = (others / LIST_NAME).read_text()
    assert text == "".join(
        f"{hashlib.sha256((others / file.name).read_bytes()).hexdigest()}  {file.name}\n"
        for file in sealed_files(others)
    )
    assert [*listed(text + "nonsense\n" + "0" * 64 + "  ../../etc/passwd\n")] == sealed_files(others)
