"""docs/validators.md, read from its beginning to its end by somebody who does what it says."""

from __future__ import annotations

import json
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from ledgerd.node.config.configuration import read_configuration
from ledgerd.protocol.keys import NULL_KEY, PrivateKey, public_key_text
from tests.docs.guides import DOCUMENTS, PATIENCE, Reader, Step, steps_of
from tests.docs.ports import free_base

PRODUCER = DOCUMENTS.parent / "src" / "ledgerd" / "producer"


def test_the_guide_leads_to_a_validator_that_produces_moves_and_retires(tmp_path: Path) -> None:
    base = free_base()
    running = {f"20{number:03}": str(base + number) for number in (0, 50, 100, 150, 250)}
    steps = iter(steps_of("validators.md", {**running, "--block-time 1": "--block-time 0.5"}))
    with Reader(tmp_path) as reader:
        reader.wait_for(reader.take(next(steps)), "all on one head")

        key = reader.take(next(steps)).strip()
        assert key.startswith("VIZ")
        assert stat.S_IMODE((tmp_path / "validator" / "signing.key").stat().st_mode) == 0o600

        take(reader, steps, "python validator.py", "sh")
        look = next(steps)
        wait_for_key(reader, look, key)
        take(reader, steps, "sh")

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

        ready, standing, validator = (
            json.loads(each) for each in reader.take(next(steps)).replace("}{", "}\n{").split("\n")
        )
        assert ready["ready"]
        assert standing["result"]["peers"] >= 1
        assert validator["result"]["last_confirmed_block_num"] > 0

        take(reader, steps, "sh")
        wait_for_key(reader, look, public_key_text(NULL_KEY))
        assert_the_guard_can_be_configured(tmp_path, next(steps))
        assert next(steps, None) is None


def take(reader: Reader, steps: Iterator[Step], *kinds: str) -> None:
    """Do the next steps, which are of these kinds."""
    for kind in kinds:
        step = next(steps)
        assert step.kind == kind, step.text
        reader.take(step)


def wait_for_key(reader: Reader, look: Step, key: str) -> None:
    """Return when a node says that the validator has this signing key, which it does from the next block on."""
    deadline = time.monotonic() + PATIENCE
    while (found := json.loads(reader.take(look))["result"]) is None or found["signing_key"] != key:
        assert time.monotonic() < deadline, f"the validator never had the key {key}: {found}"


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
    source = "".join(path.read_text(encoding="utf-8") for path in PRODUCER.glob("*.py"))

    assert len(quoted) == 10
    for words in quoted:
        assert all(part.strip(" ,") in source for part in re.split(r"\.\.\.|P(?=%)", words) if part.strip(" ,%"))
