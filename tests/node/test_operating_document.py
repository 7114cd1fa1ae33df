"""`docs/operating.md` is true: its commands run, its messages are those of the program, its options exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from ledgerd.node.config.options.sections import BY_NAME
from ledgerd.node.lifecycle import STOP_SECONDS
from ledgerd.node.parts.watching.stuck import CALL_EVERY, MOST_UNANSWERED
from ledgerd.rpc.http.routes import LINKS
from tests.node.processes import LOOPBACK, NodeProcess, run_to_end

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]
ENDS_BY_ITSELF = ("--check-config", "--print-template", "--create-snapshot")
ALONE = (*LOOPBACK, "--snapshot-serve-endpoint=127.0.0.1:0")
"""No packet leaves the machine; the seeds and the time servers of the templates are taken out of the files."""

SHORTEST_PIECE = 5


def without_others(file: Path) -> None:
    """Take out of a configuration whoever the node would speak to."""
    lines = file.read_text(encoding="utf-8").splitlines()
    away = (
        "p2p-seed-node",
        "trusted-snapshot-peer",
        "ntp-server",
        "sync-snapshot",
        "snapshot-dir",
        "webserver-",
        "p2p-e",
    )
    file.write_text("\n".join(line for line in lines if not line.startswith(away)), encoding="utf-8")


def carried_out(line: str, folder: Path) -> None:
    """Do what a line of the document says; a node is started, and stopped when it serves."""
    command, _, target = line.partition(" > ")
    words = shlex.split(command)
    if words[0] == "mkdir":
        (folder / words[-1]).mkdir()
        return
    assert words[0] == "ledgerd", line
    if not words[1].startswith("-") or any(word in words for word in ENDS_BY_ITSELF):
        done = run_to_end(*words[1:], folder=folder)
        assert done.returncode == 0, (line, done.stderr)
        if target:
            (folder / target).write_text(done.stdout, encoding="utf-8")
            without_others(folder / target)
        return
    with NodeProcess(*words[1:], *ALONE, folder=folder) as node:
        if line == "ledgerd --data-dir testnet":
            node.wait_for("Validated block #2 ")
        node.port()
        assert node.stop() == 0, line


def test_the_commands_work_one_after_the_other(tmp_path: Path) -> None:
    commands = [line for line in COMMANDS if not line.startswith("scripts/setup")]
    assert len(commands) >= 10
    for line in commands:
        carried_out(line, tmp_path)


def sources() -> str:
    """The program's own words, texts over several lines joined as the program joins them."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.py")))
    return re.sub(r'"\s*\n\s*f?"', "", text)


def test_every_message_is_one_of_the_program() -> None:
    tables = TEXT.partition("### What the lines")[2].partition("## Validators")[0]
    messages = [
        text for row in re.findall(r"^\| (`[^|\\]*(?:\\\|[^|]*)*)\|", tables, re.MULTILINE) for text in ticked(row)
    ]
    pieces = [piece.strip(" .") for text in messages for piece in re.split("…|N bytes", text)]

    assert len(messages) > 40
    known = sources()
    assert [piece for piece in pieces if len(piece) >= SHORTEST_PIECE and piece not in known] == []


def ticked(row: str) -> list[str]:
    return [text.replace("\\|", "|") for text in re.findall(r"`([^`]+)`", row)]


def test_every_option_exists() -> None:
    named = set(re.findall(r"`(?:--)?([a-z0-9]+(?:-[a-z0-9]+)+)[ =`]", TEXT))

    assert {"required-participation", "replay-blockchain", "webserver-http-endpoint"} <= named
    assert named - set(BY_NAME) - {"print-template", "check-config"} == set()


@pytest.mark.parametrize("path", LINKS)
def test_every_page_is_told_of(path: str) -> None:
    assert f"| `{path}` |" in TEXT


def test_the_seconds_are_those_of_the_program() -> None:
    assert f"within {STOP_SECONDS:.0f} seconds" in TEXT
    assert f"stuck for {CALL_EVERY * MOST_UNANSWERED:.0f} seconds" in TEXT
