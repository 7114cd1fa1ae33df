"""`ledgerd snapshot`: export from one data directory, import to another, and what is refused."""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

from ledgerd.cli import main
from tests.additions import state_with_additions
from tests.recorded import FOLDER, recorded_log

SNAPSHOTS = FOLDER.parent / "states"


def sections(path: Path) -> dict[str, Any]:
    return dict(json.loads(zlib.decompress(path.read_bytes()).decode("utf-8", "surrogateescape"))["state"])


def changed(one: dict[str, Any], two: dict[str, Any]) -> set[str]:
    """The sections that differ. After an import the head counts as irreversible, which the global properties tell."""
    assert list(one) == list(two)
    return {name for name in one if one[name] != two[name]}


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "block_log"
    path.write_bytes(recorded_log("open-2"))
    return str(path)


def directory(tmp_path: Path, name: str) -> str:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "config.ini").write_text("chain = testnet\nshared-file-size = 64M\n")
    return str(folder)


def test_a_replayed_state_is_written_and_read_back(
    log: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = directory(tmp_path, "one"), directory(tmp_path, "two")
    first, second = tmp_path / "first.vizjson", tmp_path / "second.vizjson"
    main(["replay", "--block-log", log, "--data-dir", one, "--to", "120"])
    assert main(["snapshot", "export", "--data-dir", one, str(first)]) == 0
    assert "block 120 written" in capsys.readouterr().out
    assert main(["snapshot", "import", "--data-dir", two, str(first)]) == 0
    printed = capsys.readouterr()
    assert "the state of block 120" in printed.out
    assert re.search(r"importing: record ([0-9,]+) of \1 \(100 %\), ", printed.err)
    assert main(["snapshot", "export", "--data-dir", two, str(second)]) == 0
    assert changed(sections(second), sections(first)) <= {"dynamic_global_property"}
    capsys.readouterr()
    assert main(["replay", "--block-log", log, "--data-dir", two, "--to", "200"]) == 0
    assert capsys.readouterr().out.startswith("80 blocks applied; head block 200 ")


def test_a_recorded_snapshot_is_taken_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded, data = SNAPSHOTS / "open-2-120.vizjson", directory(tmp_path, "data")
    assert main(["snapshot", "import", "--data-dir", data, str(recorded)]) == 0
    capsys.readouterr()
    written = tmp_path / "ours.vizjson"
    assert main(["snapshot", "export", "--data-dir", data, str(written)]) == 0
    assert capsys.readouterr().err == ""
    assert changed(sections(written), state_with_additions(sections(recorded))) <= {"dynamic_global_property"}


def test_a_state_that_begins_with_a_snapshot_is_sound_without_the_blocks_before_it(
    log: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = directory(tmp_path, "here")
    assert main(["snapshot", "import", "--data-dir", here, str(SNAPSHOTS / "open-2-120.vizjson")]) == 0

    assert main(["check", "--data-dir", here]) == 0
    main(["replay", "--block-log", log, "--data-dir", here, "--to", "150"])
    assert main(["check", "--data-dir", here]) == 0
    assert "block 150: all " in capsys.readouterr().out


def test_what_is_refused_leaves_nothing_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = directory(tmp_path, "data")
    broken = tmp_path / "broken.vizjson"
    broken.write_bytes(b"no snapshot")
    recorded = str(SNAPSHOTS / "open-2-120.vizjson")
    for words, said in (
        (["import", "--data-dir", data, str(tmp_path / "none")], "cannot be read"),
        (["import", "--data-dir", data, str(broken)], f"ledgerd: {broken}: the snapshot is damaged"),
        (["import", "--data-dir", data, "--chain", "mainnet", recorded], f"ledgerd: {recorded}: Chain ID mismatch"),
        (["export", "--data-dir", data, str(tmp_path / "out")], "there is no state"),
    ):
        capsys.readouterr()
        assert main(["snapshot", *words]) == 1, words
        assert said in capsys.readouterr().err
        assert not (Path(data) / "state").exists()
    assert main(["snapshot", "import", "--data-dir", data, recorded]) == 0
    capsys.readouterr()
    assert main(["snapshot", "import", "--data-dir", data, recorded]) == 1
    assert "there is a state" in capsys.readouterr().err
    assert main(["snapshot", "export", "--data-dir", data, str(broken)]) == 1
    assert "exists already" in capsys.readouterr().err
