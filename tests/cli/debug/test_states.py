"""`ledgerd debug states`: two states, compared by field."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ledgerd.cli import main
from ledgerd.projections.tables import PROJECTED_TABLES
from ledgerd.snapshot.file.sections import SECTIONS
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_NAME
from tests.chain.recorded_chains import recorded_state
from tests.recorded import FOLDER, recorded_log
from tests.snapshot.recorded import packed

RECORDED = FOLDER.parent / "states" / "open-2-120.vizjson"


Replayed = Callable[[Path, int], str]


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Replayed:
    """Makes a data directory that stands at a block of a recorded chain; each is replayed once, and copied."""
    place = tmp_path_factory.mktemp("replayed")
    log = place / "block_log"
    log.write_bytes(recorded_log("open-2"))

    def make(folder: Path, to: int) -> str:
        kept = place / str(to)
        if not kept.exists():
            kept.mkdir()
            (kept / "config.ini").write_text("chain = testnet\nshared-file-size = 64M\n")
            assert main(["replay", "--block-log", str(log), "--data-dir", str(kept), "--to", str(to)]) == 0
        shutil.copytree(kept, folder)
        return str(folder)

    return make


def with_another_balance(data: str) -> None:
    with Store.open(Path(data) / "state", STORED_TABLES) as store:
        account = store.at(ACCOUNT_BY_NAME, "alice")
        with store.editing(account):
            account.balance += 1
        store.commit()


def test_a_state_equals_its_copy_and_its_snapshot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], replayed: Replayed
) -> None:
    data, copied, exported = replayed(tmp_path / "one", 60), tmp_path / "two", tmp_path / "state.vizjson"
    shutil.copytree(data, copied)
    main(["snapshot", "export", "--data-dir", data, str(exported)])
    capsys.readouterr()

    assert main(["debug", "states", data, str(copied)]) == 0
    assert capsys.readouterr().out == f"{len(STORED_TABLES + PROJECTED_TABLES)} tables compared, 0 differences\n"
    assert main(["debug", "states", str(exported), data]) == 0
    assert capsys.readouterr().out == f"{len(SECTIONS)} tables compared, 0 differences\n"


def test_a_state_equals_what_the_reference_wrote_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], replayed: Replayed
) -> None:
    """But for the transactions that are remembered until they expire, of which the recorded file has none."""
    data, recorded = replayed(tmp_path / "one", 120), tmp_path / "recorded.vizjson"
    recorded.write_bytes(packed(recorded_state("open-2", 120)))
    capsys.readouterr()

    main(["debug", "states", data, str(recorded), "--most", "1000"])
    *differences, _ = capsys.readouterr().out.splitlines()
    assert [line for line in differences if not line.startswith("transaction ")] == []
    assert differences
    assert main(["debug", "states", data, str(recorded), "--without-marks"]) == 0

    state = recorded_state("open-2", 120)
    state["dynamic_global_property"][0]["last_irreversible_block_num"] = 1
    state["account"][0]["balance"] = "1.234 VIZ"
    recorded.write_bytes(packed(state))
    capsys.readouterr()
    assert main(["debug", "states", data, str(recorded), "--without-marks"]) == 1
    (line, _) = capsys.readouterr().out.splitlines()
    assert ".balance: " in line


def test_the_field_that_differs_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], replayed: Replayed
) -> None:
    one, two = replayed(tmp_path / "one", 60), replayed(tmp_path / "two", 60)
    with_another_balance(two)
    capsys.readouterr()

    assert main(["debug", "states", one, two]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("Account ")
    assert ".balance: " in first
    assert last.endswith(" 1 differences")


def test_a_difference_to_a_snapshot_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], replayed: Replayed
) -> None:
    data = replayed(tmp_path / "one", 120)
    with_another_balance(data)
    capsys.readouterr()

    assert main(["debug", "states", data, str(RECORDED)]) == 1
    assert "\naccount " in "\n" + capsys.readouterr().out


def test_objects_that_one_side_lacks_are_named_and_the_rest_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], replayed: Replayed
) -> None:
    early, late = replayed(tmp_path / "one", 20), replayed(tmp_path / "two", 60)
    capsys.readouterr()

    assert main(["debug", "states", early, late, "--most", "2"]) == 1
    text = capsys.readouterr().out
    assert ": only in the second\n" in text
    assert "DynamicGlobalProperty: " in text
    assert main(["debug", "states", late, early]) == 1
    assert ": only in the first\n" in capsys.readouterr().out


def test_what_is_no_state_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("no snapshot")
    for place, said in (
        (tmp_path, "there is no state in"),
        (tmp_path / "none", "cannot be read"),
        (tmp_path / "text", ""),
    ):
        assert main(["debug", "states", str(place), str(RECORDED)]) == 1
        error = capsys.readouterr().err
        assert said in error
        assert error.startswith("ledgerd: ")


def test_memory_that_a_reference_never_set_is_a_mark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], replayed: Replayed
) -> None:
    """Flags of places without a name (spec 03, section 27.2)."""
    data, recorded, state = (
        replayed(tmp_path / "one", 120),
        tmp_path / "recorded.vizjson",
        recorded_state("open-2", 120),
    )
    record = state["block_post_validation"][0]
    flags = "current_shuffled_validators_validations"
    assert record["current_shuffled_validators"].endswith("00" * 32)
    record[flags] = record[flags][:-2] + "7f"
    recorded.write_bytes(packed(state))
    capsys.readouterr()

    assert main(["debug", "states", data, str(recorded), "--without-marks"]) == 0

    record[flags] = record[flags][:-4]
    recorded.write_bytes(packed(state))
    assert main(["debug", "states", data, str(recorded), "--without-marks"]) == 1
    assert "cannot be read" in capsys.readouterr().err
