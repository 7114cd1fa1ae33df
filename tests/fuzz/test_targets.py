"""The long fuzz runs in short: fixed seeds of each target, and a fault of each kind that a target must find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ledgerd.chain.log.files import LogFiles
from ledgerd.chain.log.repair import Repaired
from ledgerd.node.config.given import ConfigurationError
from ledgerd.producer.signing.double_sign import LastSigned
from ledgerd.rpc.http.reader import BETWEEN, RequestReader
from tests.chain.logged_blocks import unsynced
from tests.fuzz import playing
from tests.fuzz.codec_inputs import Bytes, Json, served_state
from tests.fuzz.config_inputs import SECRET_WIF, ConfigFiles
from tests.fuzz.frame_inputs import Frames
from tests.fuzz.http_inputs import Http
from tests.fuzz.log_inputs import LogData, LogIndex
from tests.fuzz.mutations import damaged
from tests.fuzz.playing import Target, TooSlow, play
from tests.fuzz.signing_inputs import SigningRecords
from tests.fuzz.snapshot_inputs import Snapshots, survive_frames
from tests.fuzz.target import Broken
from tests.p2p.hostile import Hostile
from tests.p2p.scripted_talk import Talk

SEED = 1


def chance(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - the seed is the point


@pytest.fixture(autouse=True, scope="module")
def _spare_the_disk() -> Iterator[None]:
    with unsynced():
        yield


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (lambda _: Bytes(), 500),
        (lambda _: Http(), 1_000),
        (ConfigFiles, 60),
        (LogData, 150),
        (LogIndex, 150),
        (Snapshots, 30),
        (SigningRecords, 500),
    ],
    ids=["bytes", "http", "config", "log", "index", "snapshot", "last-signed-block"],
)
def test_damaged_inputs_are_refused_or_sound(make: Callable[[Path], Target], count: int, tmp_path: Path) -> None:
    played = play(make(tmp_path), SEED, count)

    assert played.done == count
    assert played.accepted is not None
    assert 0 < played.accepted < count


def test_damaged_json_and_requests_are_refused_or_sound(tmp_path: Path) -> None:
    with served_state(tmp_path) as served:
        played = play(Json(served), SEED, 400)

    assert played.accepted is not None
    assert 0 < played.accepted < played.done == 400


def test_a_node_outlasts_frames_of_all_kinds_and_serves_an_honest_peer(tmp_path: Path) -> None:
    assert Frames(tmp_path).play(SEED, 400).done == 400


def test_a_seed_gives_the_same_inputs_each_time(tmp_path: Path) -> None:
    for target in (Bytes(), Http(), ConfigFiles(tmp_path), LogData(tmp_path), Snapshots(tmp_path)):
        one, other = chance(7), chance(7)
        assert [target.make(one) for _ in range(20)] == [target.make(other) for _ in range(20)]


def test_most_damage_changes_something() -> None:
    random, sound = chance(3), bytes(range(100))

    assert sum(damaged(random, sound) != sound for _ in range(200)) > 180


# -- faults that are found


class Careless:
    """Fails at the third input, in one way or another."""

    def __init__(self, fail: Callable[[], object]) -> None:
        self._fail = fail
        self._count = 0

    def make(self, random: Random) -> int:
        return random.randrange(1 << 32)

    def survive(self, given: int) -> bool:
        self._count += 1
        if self._count == 3:
            self._fail()
        return bool(given)


def test_an_undocumented_error_tells_the_seed_and_the_input() -> None:
    with pytest.raises(ZeroDivisionError) as error:
        play(Careless(lambda: 1 // 0), 5, 10)

    random = chance(5)
    third = [random.randrange(1 << 32) for _ in range(3)][-1]
    assert error.value.__notes__ == [f"input 2 of seed 5: {third}"]


def test_an_input_that_never_ends_is_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    def turn() -> None:
        while True:
            pass

    monkeypatch.setattr(playing, "MOST_SECONDS", 0.2)

    with pytest.raises(TooSlow):
        play(Careless(turn), 5, 10)


def _found(target: Target, count: int = 2_000, *errors: type[BaseException]) -> None:
    with pytest.raises(errors or (Broken,)):
        play(target, SEED, count)


def test_a_reader_of_requests_that_reads_on_after_a_refusal_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = RequestReader.on_message_begin

    def forgets(self: RequestReader) -> None:
        self.place = BETWEEN
        begin(self)

    monkeypatch.setattr(RequestReader, "on_message_begin", forgets)

    _found(Http())


def test_a_configuration_that_tells_a_key_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def tells(self: ConfigurationError) -> str:
        return f"{self.problems} {SECRET_WIF}"

    monkeypatch.setattr(ConfigurationError, "__str__", tells)

    _found(ConfigFiles(tmp_path))


def test_a_log_that_loses_blocks_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def loses(files: LogFiles) -> Repaired:
        files.clear()
        return Repaired(0, 0)

    monkeypatch.setattr("ledgerd.chain.log.block_log.repair", loses)

    _found(LogData(tmp_path))
    _found(LogIndex(tmp_path))


def test_a_reader_that_trusts_a_damaged_index_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.chain.log.block_log._is_entry", lambda *_: True)

    _found(LogIndex(tmp_path))


def test_a_record_that_is_believed_without_its_checksum_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = SigningRecords(tmp_path)
    monkeypatch.setattr("ledgerd.producer.signing.double_sign.SignedBlockRecord.sealed", lambda self: self)

    _found(target)


def test_a_record_that_permits_a_second_signature_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = SigningRecords(tmp_path)
    monkeypatch.setattr(LastSigned, "refusal", lambda *_: "")

    _found(target)


def test_a_snapshot_whose_fault_has_no_name_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> Any:
        raise KeyError("account")

    monkeypatch.setattr("tests.fuzz.snapshot_inputs.load", refuses)

    _found(Snapshots(tmp_path), 30, KeyError)


def test_a_snapshot_that_is_written_otherwise_than_it_was_read_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, taken = Snapshots(tmp_path), iter(range(10_000))

    def differs(self: Snapshots, snapshot: object) -> bytes:
        _ = self, snapshot
        return b"%d" % next(taken)

    monkeypatch.setattr(Snapshots, "_taken_in", differs)
    monkeypatch.setattr("tests.fuzz.snapshot_inputs.Snapshot.from_bytes", lambda _: None)

    with pytest.raises(Broken):
        target.survive(target.make(chance(SEED))._replace(is_file=True, is_sealed=False))


def test_frames_of_snapshots_that_no_protocol_has_are_refused() -> None:
    assert not survive_frames(b"\xff" * 8)
    assert survive_frames(b"\0\0\0\0\1\0\0\0")


def test_a_request_that_ends_in_an_error_of_ours_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object, **__: object) -> Any:
        raise ZeroDivisionError

    with served_state(tmp_path) as served:
        monkeypatch.setattr("ledgerd.rpc.call.dispatch.argument_list", breaks)
        _found(Json(served))


def test_a_node_that_serves_nobody_any_more_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = Frames(tmp_path)
    monkeypatch.setattr(Hostile, "go_on", lambda self: setattr(self, "frames", self.frames + 1))
    monkeypatch.setattr(Talk, "say", lambda *_: [])
    with pytest.raises(Broken, match="honest peer"):
        frames.play(SEED, 5)
