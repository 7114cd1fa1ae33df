from __future__ import annotations

import errno
import os
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

from ledgerd.cli import main
from ledgerd.cli.process import version as told_version


def test_the_version_is_that_of_the_installed_package(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(told_version, "PACKAGE", tmp_path / "site-packages" / "ledgerd")

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == (
        "blockchain_version: 4.1.0\n"
        "git_revision:       unknown\n"
        f"ledgerd_version:    {version('ledgerd')} (full, mainnet)\n"
    )


def test_a_checkout_tells_the_commit_that_it_is_at(tmp_path: Path) -> None:
    own = ["-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]

    def git(*words: str) -> str:
        return subprocess.run(["git", *own, *words], check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603, S607 - our own words

    def told(folder: Path) -> str:
        return told_version.revision_of(folder / "src" / "ledgerd")

    assert told(tmp_path) == "unknown", "there is no repository"
    git("init", "-q")
    assert told(tmp_path) == "unknown", "there is no commit"

    git("commit", "-q", "--allow-empty", "-m", "one")
    commit = git("rev-parse", "HEAD")
    assert told(tmp_path) == commit
    git("worktree", "add", "-q", "beside")
    assert told(tmp_path / "beside") == commit
    git("pack-refs", "--all")
    assert told(tmp_path) == told(tmp_path / "beside") == commit
    git("checkout", "-q", "--detach")
    assert told(tmp_path) == commit
    assert told_version.revision_of(tmp_path / "lib" / "ledgerd") == "unknown", "what is no source is of another"


def test_an_unknown_argument_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--coffee"])

    assert stopped.value.code == 2
    assert "--coffee" in capsys.readouterr().err


def test_an_unknown_command_is_refused_with_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doktor"]) == 2
    assert "there is no command 'doktor'; the nearest one is doctor" in capsys.readouterr().err


def test_options_are_those_of_the_node_and_commands_have_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    for words, named in ((["--help"], "--p2p-endpoint"), (["state", "--help"], "TABLE")):
        with pytest.raises(SystemExit) as stopped:
            main(words)

        assert stopped.value.code == 0
        assert named in capsys.readouterr().out


def test_what_the_system_refuses_is_said_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main(["dev", "--data-dir", str(tmp_path / "file" / "chain")]) == 1
    assert "Not a directory: see to the permissions" in capsys.readouterr().err


def test_ctrl_c_at_a_question_is_no_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("ledgerd.cli.directory.init.run", interrupted)
    assert main(["init"]) == 130
    assert capsys.readouterr().err == "\nledgerd: interrupted\n"


def test_a_full_disk_is_told_in_a_line_though_no_file_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("ledgerd.cli.directory.replay.run", full)
    assert main(["replay", "--data-dir", ".", "--block-log", "x"]) == 1
    assert capsys.readouterr().err.startswith("ledgerd: No space left on device: see to the permissions and the disk")
