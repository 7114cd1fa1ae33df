"""docs/debugging.md, done as it says: what it prints has the shape that the page shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from shlex import split

from tests.docs.guides import Reader, Step, steps_of
from tests.docs.ports import free_base
from tests.docs.tutorials import ANY_METRICS
from tests.house.source_tree import ROOT
from tests.sim.chaos import chaos
from tests.sim.grounds import Grounds

SHOWN = re.compile(r"^```sh[^\n]*\n(?:[^`]*)^```\n+```\n(.*?)^```", re.MULTILINE | re.DOTALL)


def as_pattern(line: str) -> str:
    """A line that the page shows, with any number for a number, any id for an id, and `...` for anything."""
    words = re.sub(r"[0-9a-f]{8,}\.\.\.", "<ID>", line)
    parts = re.split(r"(<ID>|\.\.\.|\d+)", words)
    kinds = {"<ID>": "[0-9a-f]{40}", "...": ".*"}
    return "".join(kinds.get(part, r"\d+" if part.isdecimal() else re.escape(part)) for part in parts)


def assert_shows(shown: str, printed: str) -> None:
    """Each line of a block of the page stands in what was printed, in this order."""
    place = 0
    for line in shown.splitlines():
        found = re.compile(f"^{as_pattern(line)}", re.MULTILINE).search(printed, place)
        assert found, f"{line!r} is not in:\n{printed[place:]}"
        place = found.end()


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    base = free_base()
    ports = {"8090": base, "8091": base + 1, "8190": base + 2, "8191": base + 50}
    running = {f":{usual}": f":{other}" for usual, other in ports.items()}
    steps = iter(steps_of("debugging.md", {**running, "ledgerd dev": f"ledgerd dev {ANY_METRICS}"}))
    shown = iter(blocks_shown(running))
    with Reader(tmp_path) as reader:
        assert_shows(next(shown), reader.take(next(steps)))
        reader.take(next(steps))
        assert_shows(next(shown), reader.take(next(steps)))
        assert next(steps).kind == "sh repository"
        next(shown)

        one = started(reader, next(steps))
        assert '"head_block_number"' in reader.take(next(steps))
        reader.interrupt(one)
        reader.take(next(steps))
        started(reader, next(steps))
        reader.take(next(steps))
        assert_shows(next(shown), reader.take(next(steps)))
        assert_shows(next(shown), reader.take(next(steps)))

        started(reader, next(steps))
        reader.take(next(steps))
        assert_shows(next(shown), reader.take(next(steps)))
        assert "last common block: " in reader.take(next(steps))
    assert next(steps, None) is None
    assert next(shown, None) is None


def blocks_shown(running: dict[str, str]) -> Iterator[str]:
    """The outputs that the page shows, each after its command."""
    text = (ROOT / "docs" / "debugging.md").read_text(encoding="utf-8")
    for usual, other in running.items():
        text = text.replace(usual, other)
    yield from SHOWN.findall(text)


def started(reader: Reader, step: Step) -> str:
    """Begin what stays running, and wait until it answers."""
    log = reader.take(step)
    reader.wait_for(log, "Try it:")
    return log


def test_the_seed_of_the_page_ends_well(tmp_path: Path) -> None:
    """What `scripts/simulate` does with it. That a seed gives the same run again is shown in `tests/sim`."""
    (step,) = (step for step in steps_of("debugging.md", {}) if step.kind == "sh repository")
    script, count, seed = split(step.text)
    assert (ROOT / script).is_file()
    assert count == "1"

    assert chaos(Grounds(tmp_path / "grounds"), int(seed), tmp_path / "world").is_good


def test_a_line_of_the_page_that_was_not_printed_is_found() -> None:
    shown = "block 26 0000001a6ee4... by viz\n"
    assert_shows(shown, f"block 7 {bytes(range(20)).hex()} by viz\n")
    for printed in ("block 7 0000 by viz", "block 7 by viz", ""):
        try:
            assert_shows(shown, printed)
        except AssertionError:
            continue
        raise AssertionError(f"{printed!r} passes for {shown!r}")
