"""Recovery as a part: in which order it holds production, keeps a record, speaks and acts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.node.parts.watching.recovery import part as part_module
from ledgerd.node.parts.watching.recovery.part import RecoveryPart, permissions_of, read_incidents, write_incidents
from ledgerd.node.parts.watching.recovery.rule import Incident, Permissions
from ledgerd.p2p.sync.survey import NetworkSurvey
from ledgerd.supervision.part import Supervisor
from tests.node.contexts import context_of

WELL = NetworkSurvey(1_000, 985, 0, 0, 0, 14, 0, 14, 3.0)
BEHIND = NetworkSurvey(1_000, 985, 5, 1_300, 14, 14, 0, 2, 600.0)


class Stage:
    """All that the part uses, played by a test, which notes what happens in which order."""

    def __init__(self, folder: Path, surveys: list[NetworkSurvey | None]) -> None:
        self.folder = folder
        self.chain = self
        self.surveys = surveys
        self.happened: list[str] = []
        self.now = 0

    # -- as the chain and its part

    async def run(self, job: Callable[[], Any]) -> Any:
        return job()

    def forget_branches(self) -> None:
        self._note("forget")

    def go_back(self) -> int:
        self._note("go back")
        return 7

    # -- as the peers

    def survey(self) -> NetworkSurvey | None:
        return self.surveys.pop(0) if len(self.surveys) > 1 else self.surveys[0]

    def ask_again(self) -> None:
        self._note("ask")

    # -- as what may be signed

    def forbid(self, name: str, _reason: str) -> None:
        self._note(f"forbid {name}")

    def allow(self, name: str) -> None:
        self._note(f"allow {name}")

    def _note(self, what: str) -> None:
        if not self.happened or self.happened[-1] != what:
            self.happened.append(what)

    # -- as the time

    def monotonic(self) -> int:
        return self.now * 1_000_000

    def wall(self) -> int:
        return (1_800_000_000 + self.now) * 1_000_000

    async def sleep(self, seconds: float) -> None:
        self.now += int(seconds)
        await asyncio.sleep(0)


def configured(folder: Path, **options: str) -> Configuration:
    words = {"data-dir": [str(folder)], "chain": ["testnet"], "plugin": ["p2p snapshot"]}
    return read_configuration(words | {name.replace("_", "-"): [text] for name, text in options.items()}, folder)


ALLOWED = {"auto_resync_on_wedge": "true", "trusted_snapshot_peer": "127.0.0.1:9"}


async def watched(stage: Stage, seconds: int, **options: str) -> tuple[Supervisor, asyncio.Event]:
    """Let a part run for so long, by the time that it is given."""
    given = cast("Any", stage)
    context = context_of(RecoveryPart, configured(stage.folder, **options), given, signing=given)
    part, newer = RecoveryPart(context, given, given), context.newer_state
    supervisor = Supervisor()
    supervisor.add(part)
    await part.start()
    end = stage.now + seconds
    while stage.now < end and not newer.is_set():  # noqa: ASYNC110 - its time is that of the stage
        await asyncio.sleep(0)
    await part.stop()
    return supervisor, newer


def test_signing_is_held_before_the_first_step_and_until_all_is_well(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    stage = Stage(tmp_path, [*[BEHIND] * 90, WELL])

    supervisor, newer = asyncio.run(watched(stage, 600))

    assert stage.happened == [
        "allow wedge", "forbid wedge", "forget", "ask", "forbid wedge", "go back", "ask", "forbid wedge", "allow wedge"
    ]  # fmt: skip
    assert supervisor.health.down == {}
    assert not newer.is_set()
    assert [each.is_over for each in read_incidents(tmp_path)] == [True]
    told = [record.message for record in caplog.records]
    assert any(text.startswith("WEDGED at block 1000") for text in told)
    assert any(text.startswith("in step again") for text in told)


def test_what_is_wrong_is_told_where_load_balancers_ask(tmp_path: Path) -> None:
    supervisor, _ = asyncio.run(watched(Stage(tmp_path, [BEHIND]), 330))
    assert supervisor.health.down["sync"].startswith("wedge: wedged at block 1000: 14 validators have signed")


def test_nothing_is_signed_from_the_start_where_a_run_before_was_wedged(tmp_path: Path) -> None:
    write_incidents(tmp_path, [Incident(1_800_000_000, 900, ["forget the branches"])])
    stage = Stage(tmp_path, [WELL._replace(age=900.0)])
    asyncio.run(watched(stage, 60))
    assert stage.happened == ["forbid wedge"]


def test_without_peers_there_is_nothing_to_see(tmp_path: Path) -> None:
    stage = Stage(tmp_path, [None])
    asyncio.run(watched(stage, 600))
    assert stage.happened == []


@pytest.mark.parametrize("problem", ["", "no trusted peer has a snapshot"])
def test_the_last_step_begins_anew_or_says_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, problem: str
) -> None:
    async def replaced(*_: object) -> str:
        return problem

    monkeypatch.setattr(part_module, "replace_state", replaced)
    _, newer = asyncio.run(watched(Stage(tmp_path, [BEHIND]), 600, **ALLOWED))
    assert newer.is_set() is not bool(problem)
    assert problem in caplog.text
    (incident,) = read_incidents(tmp_path)
    assert (incident.steps[-1], incident.unfinished) == ("fetch a snapshot", not problem)


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        ({}, Permissions(may_step=True, may_fetch=False)),
        (ALLOWED, Permissions(may_step=True, may_fetch=True)),
        ({"auto_resync_on_wedge": "true"}, Permissions(may_step=True, may_fetch=False)),
        ({**ALLOWED, "recover_from_wedge": "false"}, Permissions(may_step=False, may_fetch=True)),
        ({**ALLOWED, "plugin": "p2p"}, Permissions(may_step=True, may_fetch=False)),
    ],
)
def test_options_say_what_is_allowed(tmp_path: Path, options: dict[str, str], allowed: Permissions) -> None:
    assert permissions_of(configured(tmp_path, **options)) == allowed
