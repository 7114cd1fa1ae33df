"""`ledgerd init`: what it asks, writes and refuses, and what it says to do next."""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from ledgerd.cli import main
from ledgerd.cli.arguments import directory_arguments
from ledgerd.cli.directory import init
from ledgerd.cli.shared.started import unit_of
from ledgerd.doctor.finding import Finding, error, warning
from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.node.config.first_file import KINDS
from ledgerd.node.config.templates import SEEDS, SNAPSHOT_PEERS

FOUND: list[Finding] = []


@pytest.fixture(autouse=True)
def examined(monkeypatch: pytest.MonkeyPatch) -> None:
    """The examination finds `FOUND`: a real one asks the servers of the main network."""
    FOUND.clear()
    monkeypatch.setattr("ledgerd.cli.directory.doctor.examine", lambda *_: iter(FOUND))


def initialised(folder: Path, *words: str) -> int:
    return main(["init", "--data-dir", str(folder), *words])


def understood(folder: Path) -> Configuration:
    return read_configuration({"data-dir": [str(folder)]}, folder)


def test_a_full_node_of_the_main_network_is_that_of_the_template_in_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"

    assert initialised(data, "--kind", "full", "--chain", "mainnet") == 0

    configuration = understood(data)
    assert configuration.application.chain == "mainnet"
    assert configuration.p2p.seeds == SEEDS
    assert configuration.snapshot.trusted_peers == SNAPSHOT_PEERS
    assert configuration.snapshot.directory == data / "snapshots"
    assert capsys.readouterr().out.splitlines()[-2:] == ["nothing is wrong.", f"Next: ledgerd --data-dir {data}"]


@pytest.mark.parametrize(("kind", "makes_blocks"), [("full", False), ("validator", False), ("testnet", True)])
def test_every_kind_is_understood_and_for_its_owner_alone(tmp_path: Path, kind: str, makes_blocks: bool) -> None:
    assert initialised(tmp_path, "--kind", kind, "--chain", "testnet", "--seed", "127.0.0.1:9") == 0

    assert bool(understood(tmp_path).validator.keys) is makes_blocks
    assert stat.S_IMODE((tmp_path / "config.ini").stat().st_mode) == 0o600


def test_another_network_has_the_peers_that_are_named_and_none_of_the_main_network(tmp_path: Path) -> None:
    chain = tmp_path / "chain.toml"
    chain.write_text('base = "testnet"\nname = "OURS"\n')
    words = ("--seed", "127.0.0.1:1", "--seed", "127.0.0.1:2", "--snapshot-peer", "127.0.0.1:3")

    assert initialised(tmp_path, "--kind", "full", "--chain", str(chain), *words) == 0

    configuration = understood(tmp_path)
    assert [str(each) for each in configuration.p2p.seeds] == ["127.0.0.1:1", "127.0.0.1:2"]
    assert [str(each) for each in configuration.snapshot.trusted_peers] == ["127.0.0.1:3"]
    assert configuration.snapshot.sync_from_trusted_peer
    assert configuration.history.start_block == 0


def test_a_node_that_knows_nobody_is_told_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert initialised(tmp_path, "--kind", "full", "--chain", "testnet") == 0

    printed = capsys.readouterr().out
    assert "It knows no peers yet" in printed
    assert f"Next: add peers, then ledgerd --data-dir {tmp_path}" in printed
    assert not understood(tmp_path).snapshot.sync_from_trusted_peer


def test_a_configuration_that_is_there_stays_without_a_clear_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, file = tmp_path / "kept.ini", tmp_path / "config.ini"
    kept.write_text("chain = testnet\n")
    kept.chmod(0o640)
    file.symlink_to(kept)
    words = ("--kind", "full", "--chain", "mainnet")

    assert initialised(tmp_path, *words) == 1
    assert "--overwrite replaces it" in capsys.readouterr().err
    assert kept.read_text() == "chain = testnet\n"

    assert initialised(tmp_path, *words, "--overwrite") == 0
    assert (tmp_path / "kept.ini.old").read_text() == "chain = testnet\n"
    assert file.is_symlink()
    assert understood(tmp_path).application.chain == "mainnet"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640


def test_what_the_node_would_not_understand_is_not_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert initialised(tmp_path, "--kind", "full", "--chain", "mainnet", "--seed", "nowhere") == 1

    assert "p2p-seed-node" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--kind", "full", "--chain", "nonet"), "nonet: there is no such file, and no such network"),
        (("--kind", "testnet", "--chain", "mainnet"), "--kind testnet is a network of its own"),
        (("--chain", "mainnet"), "nobody is there to answer: give --kind"),
    ],
)
def test_what_cannot_be_is_refused(
    tmp_path: Path,
    words: tuple[str, ...],
    reason: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO("full\n"))

    assert initialised(tmp_path, *words) == 1
    assert reason in capsys.readouterr().err


def test_errors_of_the_doctor_come_before_the_start_and_what_every_new_node_lacks_is_not_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    FOUND.append(error("seeds-silent", what="all are silent", why="it matters", do="do this"))
    FOUND.extend(warning(name, what="it is new", why="it is", do="nothing") for name in init.EXPECTED)

    assert initialised(tmp_path, "--kind", "validator", "--chain", "mainnet") == 1

    printed = capsys.readouterr().out
    assert "error: seeds-silent: all are silent" in printed
    assert "it is new" not in printed
    assert "Next: see to what is wrong above, then ledgerd" in printed
    assert "name your validator and its key" in printed


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What a person at a terminal types, line by line."""
    lines: list[str] = []
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        if not lines:
            raise EOFError
        return lines.pop(0)

    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr("builtins.input", answer)
    yield lines
    assert not lines


def test_three_questions_are_asked_and_a_wrong_answer_is_asked_again(
    tmp_path: Path, typed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    typed += ["boat", "2", "", str(tmp_path / "node")]

    assert main(["init"]) == 0

    assert "boat: there is no such kind: full or validator or testnet" in capsys.readouterr().out
    configuration = understood(tmp_path / "node")
    assert configuration.application.chain == "mainnet"
    assert "validator_guard" in configuration.application.plugins


def test_a_network_to_develop_on_needs_no_second_question(tmp_path: Path, typed: list[str]) -> None:
    typed += ["testnet", str(tmp_path)]

    assert main(["init"]) == 0
    assert understood(tmp_path).application.chain == "testnet"


def test_who_leaves_without_an_answer_is_told_of_the_option(
    typed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed == []
    assert main(["init"]) == 1
    assert "no answer: give --kind" in capsys.readouterr().err


def test_a_service_that_starts_the_node_is_what_comes_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    units = tmp_path / "etc/systemd/system"
    units.mkdir(parents=True)
    (units / "ledgerd.service").write_text(f"[Service]\nExecStart=/usr/bin/ledgerd --data-dir {tmp_path}\n")
    found = unit_of(tmp_path, tmp_path)
    monkeypatch.setattr(init, "unit_of", lambda _: found)

    assert initialised(tmp_path, "--kind", "full", "--chain", "mainnet") == 0
    assert "Next: systemctl enable --now ledgerd" in capsys.readouterr().out


def test_the_words_for_the_kinds_are_those_of_the_file() -> None:
    assert tuple(KINDS) == directory_arguments.KINDS
