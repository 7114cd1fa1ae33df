"""Units of systemd with their drop-in files, as systemd reads them."""

from __future__ import annotations

from pathlib import Path

from ledgerd.supervision.units import units

UNIT = "[Unit]\nDescription=a node\n[Service]\nExecStart=/bin/one \\\n  --two\nLimitNOFILE=100\nRestart=no\n"


def write(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_values_are_of_the_section_service_alone(tmp_path: Path) -> None:
    write(tmp_path, "etc/systemd/system/ledgerd.service", f"{UNIT}# Restart=always\n[Install]\nRestart=always\n")
    write(tmp_path, "etc/systemd/system/other.service", UNIT)
    (unit,) = units(tmp_path)

    assert unit.path.name == "ledgerd.service"
    assert (unit.last("execstart").split(), unit.last("restart")) == (["/bin/one", "--two"], "no")
    assert (unit.last("timeoutstopsec"), unit.words("environment")) == ("", [])


def test_a_unit_of_the_machine_comes_before_one_of_a_package(tmp_path: Path) -> None:
    write(tmp_path, "usr/lib/systemd/system/ledgerd.service", UNIT)
    write(tmp_path, "etc/systemd/system/ledgerd.service", UNIT.replace("100", "200"))

    assert [unit.last("limitnofile") for unit in units(tmp_path)] == ["200"]


def test_drop_in_files_are_read_in_order_of_their_names_and_count_after_the_unit(tmp_path: Path) -> None:
    write(tmp_path, "usr/lib/systemd/system/ledgerd.service", UNIT)
    write(tmp_path, "usr/lib/systemd/system/ledgerd.service.d/10-files.conf", "[Service]\nLimitNOFILE=1\n")
    write(
        tmp_path, "etc/systemd/system/ledgerd.service.d/10-files.conf", "[Service]\nLimitNOFILE=300\nRestart=always\n"
    )
    write(tmp_path, "run/systemd/system/ledgerd.service.d/20-more.conf", "[Service]\nLimitNOFILE=400\n")
    write(tmp_path, "etc/systemd/system/ledgerd.service.d/90-none.txt", "[Service]\nLimitNOFILE=5\n")
    (unit,) = units(tmp_path)

    assert (unit.last("limitnofile"), unit.last("restart")) == ("400", "always")


def test_lists_grow_and_an_empty_value_empties_them(tmp_path: Path) -> None:
    write(tmp_path, "etc/systemd/system/ledgerd.service", f"{UNIT}RestartPreventExitStatus=2 3\n")
    folder = "etc/systemd/system/ledgerd.service.d"
    write(tmp_path, f"{folder}/1.conf", "[Service]\nRestartPreventExitStatus=4\nExecStart=\nExecStart=/bin/three\n")
    (unit,) = units(tmp_path)
    assert (unit.words("restartpreventexitstatus"), unit.values["execstart"]) == (["2", "3", "4"], ["/bin/three"])

    write(tmp_path, f"{folder}/2.conf", "[Service]\nRestartPreventExitStatus=\n")
    (unit,) = units(tmp_path)
    assert unit.words("restartpreventexitstatus") == []


def test_a_file_that_is_no_text_says_nothing(tmp_path: Path) -> None:
    write(tmp_path, "etc/systemd/system/ledgerd.service", "")
    (tmp_path / "etc/systemd/system/ledgerd.service").write_bytes(b"\xff\0[Service\nRestart")

    assert [unit.values for unit in units(tmp_path)] == [{}]
