"""`ledgerd completion`: what shells offer behind the words that were typed."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from ledgerd.cli import main
from ledgerd.cli.completion import SCRIPTS, every_place, script_of
from ledgerd.cli.main import COMMANDS

OFFERED: tuple[tuple[tuple[str, ...], set[str]], ...] = (
    (("wal",), {"wallet"}),
    (("init", "--ki"), {"--kind"}),
    (("init", "--kind", ""), {"full", "validator", "testnet"}),
    (("init", "--kind", "=", "fu"), {"full"}),
    (("init", "--data-dir", ""), set()),
    (("snapshot", ""), {"export", "import"}),
    (("snapshot", "export", "--ch"), {"--chain"}),
    (("--snapshot-a",), {"--snapshot-auto-latest", "--snapshot-at-block"}),
    (("wallet", "transf"), {"transfer", "transfer-to-vesting"}),
)
"""Words that were typed, the last one not to its end, and what bash offers for that; nothing where it shows files."""
BASH = 'COMP_WORDS=(ledgerd "$@") COMP_CWORD=$#; _ledgerd; printf "%s\\n" "${COMPREPLY[@]}"'
PLACE = re.compile(r"ledgerd( [a-z0-9-]+)*( -{1,2}[A-Za-z0-9-]*)?")


def test_bash_offers_commands_options_and_values() -> None:
    bash = shutil.which("bash")
    assert bash is not None
    for typed, offered in OFFERED:
        words = [bash, "--norc", "-c", script_of("bash") + BASH, "bash", *typed]
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)  # noqa: S603 - our own words
        assert set(done.stdout.split()) == offered, typed


@pytest.mark.parametrize("shell", SCRIPTS)
def test_a_script_has_every_place_and_is_read_by_its_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0

    script = capsys.readouterr().out
    assert script == script_of(shell)
    assert all(f"'{place}'" in script for place in every_place())
    if (program := shutil.which(shell)) is not None:
        subprocess.run([program, "-n"], input=script, text=True, check=True, timeout=60)  # noqa: S603 - our own words


def test_every_command_is_a_place_and_no_word_is_one_that_a_shell_would_read() -> None:
    places = every_place()

    assert {f"ledgerd {name}" for name in COMMANDS} < places.keys()
    for place, words in places.items():
        assert PLACE.fullmatch(place), place
        assert all(re.fullmatch(r"[A-Za-z0-9._-]+", word) for word in words), place
