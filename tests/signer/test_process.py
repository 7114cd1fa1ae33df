"""Signers as processes: one a key, stopped cleanly or killed, and closed to whoever looks into them."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ledgerd.cli.main import main
from ledgerd.signer import process
from tests.node.processes import run_to_end
from tests.signer.headers import NAME
from tests.signer.processes import signer, words_of_signer
from tests.wallet.memory import has_left_core

LISTENS = f"the signer of {NAME} with VIZ"

ATTEMPT = """
import asyncio, sys, time
from pathlib import Path
from ledgerd.producer.signing.signer_link import SignerLink
from ledgerd.producer.signing.signer_place import SignerPlace
from tests.signer.headers import KEY, header_of

async def main():
    link = SignerLink(SignerPlace(path=Path(sys.argv[1])), None)
    slot = int(time.time()) // 3 * 3
    signing = await link.sign(KEY.public, header_of(slot))
    link.close()
    print(signing.answer.verdict.name, signing.answer.text[:60] if not signing.answer.signature else "")

asyncio.run(main())
"""


def asked(folder: Path) -> str:
    """What somebody hears who asks for the slot of now."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", ATTEMPT, str(folder / "socket")], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.strip()


def test_one_signer_runs_for_a_key_and_stops_cleanly(tmp_path: Path) -> None:
    folder = tmp_path / "signer"
    with signer(folder) as running:
        running.wait_for(LISTENS)
        assert asked(folder).startswith("WAITING the signer was not stopped cleanly, or is new")

        told = run_to_end("signer", f"--ask=unix:{folder}/socket", folder=tmp_path)
        assert (told.returncode, told.stdout.splitlines()[0]) == (0, f"validators: {NAME}")
        assert "signs:      no: the signer was not stopped cleanly" in told.stdout

        copy = run_to_end(*words_of_signer(tmp_path / "elsewhere"), folder=tmp_path)
        assert copy.returncode == 1
        assert "another signer of this user holds the key VIZ" in copy.stderr
        same = run_to_end(*words_of_signer(folder), folder=tmp_path)
        assert "in use by another signer" in same.stderr

        assert running.stop() == 0
        assert "the signer has stopped cleanly" in running.log
    assert not (folder / "socket").exists()


def test_a_process_with_a_key_writes_no_core_and_belongs_to_root_alone(tmp_path: Path) -> None:
    """A process that may not be dumped has files in /proc that are root's, whoever runs it."""
    with signer(tmp_path) as running:
        running.wait_for(LISTENS)
        limits = Path(f"/proc/{running.process.pid}/limits").read_text()
        (core,) = [line for line in limits.splitlines() if line.startswith("Max core file size")]
        assert core.split()[4:6] == ["0", "0"]
        assert "VIZ" in running.log
        loaded = Path(f"/proc/{running.process.pid}/maps").read_text()
        assert "lmdb" not in loaded, "no state of a chain is opened here"
        running.process.send_signal(signal.SIGABRT)
        assert not has_left_core(running.process.pid), "test_session.py shows that the system writes them of others"
        assert running.wait() == -signal.SIGABRT


def test_a_signer_loads_nothing_of_the_chain(tmp_path: Path) -> None:
    text = (
        "import sys, ledgerd.cli.process.signer, ledgerd.signer.process\n"
        "print([name for name in sys.modules if name.split('.')[:2] in (['ledgerd', 'chain'], ['ledgerd', 'state'])])"
    )
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=True, cwd=tmp_path
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("--key-file=open.key", "others than its owner may open"),
        ("--key-file=empty.key", "holds no key"),
        ("--key-file=none.key", "cannot be opened"),
        ("--listen=tcp://127.0.0.1:1", "is neither unix:/PATH nor tls://HOST:PORT"),
        ("--listen=tls://127.0.0.1:1", "tls:// needs --certificate, --certificate-key and --authority"),
        ("--allow-user=no-such-user", "there is no user no-such-user"),
    ],
)
def test_what_is_wrong_at_the_start_is_said_and_nothing_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], word: str, problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(process, "forbid_dumps", lambda: None)  # this process is that of the tests
    monkeypatch.setattr("ledgerd.node.config.logging.setup.set_up_logging", lambda _: None)
    words = words_of_signer(tmp_path)
    shutil.copy(tmp_path / "signing.key", "open.key")
    Path("open.key").chmod(0o644)
    Path("empty.key").touch(0o600)

    assert main([*words, word]) == 1

    assert problem in capsys.readouterr().err
    assert not (tmp_path / "socket").exists()


def test_what_a_signer_has_to_be_told_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["signer", "--validator=alice"]) == 1
    assert "missing: --data-dir, --key-file, --listen" in capsys.readouterr().err
