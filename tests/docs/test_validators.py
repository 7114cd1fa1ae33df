"""docs/validators.md, read from its beginning to its end by somebody who does what it says."""

from __future__ import annotations

import json
import re
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.node.config.configuration import read_configuration
from ledgerd.protocol.crypto.keys import PrivateKey
from tests.docs.guides import DOCUMENTS, SMALLER, Reader, Step, steps_of
from tests.docs.ports import free_base

PRODUCER = DOCUMENTS.parent / "src" / "ledgerd" / "producer"


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Ports of a network; the reader's wallet asks its first node."""
    base = free_base()
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        monkeypatch.setenv("LEDGERD_NODE", f"http://127.0.0.1:{base + 100}")
        monkeypatch.setenv("LEDGERD_CLOCK_DIFFERENCE", "1000000")
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
        yield base


def test_the_guide_leads_to_a_validator_that_produces_moves_changes_its_key_and_retires(
    tmp_path: Path, base: int
) -> None:
    running = {f"20{number:03}": str(base + number) for number in (0, 50, 100, 150, 250)}
    steps = iter(steps_of("validators.md", {**running, "--block-time 1": "--block-time 0.5", **SMALLER}))
    with Reader(tmp_path) as reader:
        reader.wait_for(reader.take(next(steps)), "all on one head")

        key = reader.take(next(steps)).strip()
        assert key.startswith("VIZ")
        assert stat.S_IMODE((tmp_path / "validator" / "signing.key").stat().st_mode) == 0o600

        assert "LEDGERD_NODE" in next(steps).text
        take(reader, steps, "sh", "sh", "sh")

        understood = [reader.take(step) for step in (next(steps), next(steps))]
        assert '"alice"' in understood[0]
        terminal = reader.take(next(steps))
        reader.wait_for(terminal, "Launching block production for 1 validators.")
        reader.wait_for(terminal, "by alice with")

        take(reader, steps, "sh", "sh")
        assert "exited cleanly" in (tmp_path / terminal).read_text()
        assert not (tmp_path / "validator" / "last_signed_block").exists()
        terminal = reader.take(next(steps))
        reader.wait_for(terminal, "by alice with")

        rotated = reader.take(next(steps))
        assert re.search(r"Block [0-9]+ is signed with the new key. Slots missed: [0-9]+", rotated)
        left = reader.take(next(steps)).split()
        assert len(left) == 1
        assert left[0] != key

        ready, standing, validator = (
            json.loads(each) for each in reader.take(next(steps)).replace("}{", "}\n{").split("\n")
        )
        assert ready["ready"]
        assert standing["result"]["peers"] >= 1
        assert validator["result"]["last_confirmed_block_num"] > 0
        assert validator["result"]["signing_key"] == left[0]

        take(reader, steps, "sh")
        reader.take(Step("sh", "ledgerd wallet lock"))
        assert_the_guard_can_be_configured(tmp_path, next(steps))
        assert next(steps, None) is None


def take(reader: Reader, steps: Iterator[Step], *kinds: str) -> None:
    """Do the next steps, which are of these kinds."""
    for kind in kinds:
        step = next(steps)
        assert step.kind == kind, step.text
        reader.take(step)


def assert_the_guard_can_be_configured(folder: Path, step: Step) -> None:
    key = PrivateKey(b"k" * 32).wif
    file = folder / "guarded.ini"
    file.write_text(step.text.replace("5-SIGNING-KEY", key).replace("5-ACTIVE-KEY", key))

    options = read_configuration({"config-file": [str(file)]}, folder).validator_guard
    assert list(options.watched) == ["alice"]
    assert (options.disable, options.disable_on_shutdown) == (5, True)


def test_the_log_says_what_the_guide_quotes() -> None:
    document = (DOCUMENTS / "validators.md").read_text(encoding="utf-8")
    table = document.partition("| the log says |")[2].partition("\n\n")[0]
    quoted = re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)
    source = "".join(path.read_text(encoding="utf-8") for path in PRODUCER.rglob("*.py"))

    assert len(quoted) == 10
    for words in quoted:
        assert all(part.strip(" ,") in source for part in re.split(r"\.\.\.|P(?=%)", words) if part.strip(" ,%"))
