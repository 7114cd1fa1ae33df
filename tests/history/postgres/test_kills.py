"""`kill -9` of node, feed and PostgreSQL at any moment: afterwards PostgreSQL has the history of a clean replay.

A usual run kills a few times; `scripts/kills` kills 200 times.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from ledgerd.history.columns.source import HistorySource
from ledgerd.history.postgres.feeder import Feeder
from ledgerd.history.postgres.status import PostgresUnavailable
from ledgerd.history.postgres.verify import StoreComparison
from tests.history.histories import closed_view
from tests.history.killing import ROOT, clean_replay
from tests.history.model import assert_same
from tests.history.postgres.feeding import CHAIN, fed_view, feed_all
from tests.history.postgres.test_balances import balances_at, standing
from tests.history.postgres.victims import SETTINGS, recording
from tests.patience import PATIENCE
from tests.postgres import address_of, new_folder, run_script, sql
from tests.recorded import recorded_log
from tests.server_watch import begin_watch, use

KILLS = int(os.environ.get("KILLS", "6"))
"""How many moments are tried, a third of them for each of the three."""

KILLS_A_ROUND = min(KILLS, 10)
"""Before the chain begins again: there is work to kill at."""

LAST = 900 if "KILLS" in os.environ else 450
LONGEST_WORK = 0.5


class Victims:
    """A node, a feed and a server."""

    def __init__(self, folder: Path, server: Path) -> None:
        self.folder = folder
        self.server = server
        self.address = address_of(server, "ledger")
        run_script("start", server, "shared_buffers=16MB")  # with fsync: what is committed must be there
        sql(address_of(server, "postgres"), "CREATE DATABASE ledger")
        self.node = self._begun("replay", str(LAST))
        self.feed = self._begun("feed", self.address)

    def _begun(self, what: str, more: str) -> subprocess.Popen[str]:
        words = [sys.executable, "-m", "tests.history.postgres.victims", what, str(self.folder), more]
        begun = subprocess.Popen(  # noqa: S603 - ourselves
            words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert begun.stdout is not None
        begun.stdout.readline()
        return begun

    def kill(self, which: str) -> None:
        """Kill one of them, and start it again."""
        if which == "node":
            end(self.node)
            self.node = self._begun("replay", str(LAST))
        elif which == "feed":
            end(self.feed)
            self.feed = self._begun("feed", self.address)
        else:
            first = int((self.server / "data" / "postmaster.pid").read_text().split()[0])
            for pid in [first, *children_of(first)]:
                os.kill(pid, signal.SIGKILL)
            while Path(f"/proc/{first}").exists():
                time.sleep(0.01)
            run_script("start", self.server, "shared_buffers=16MB")

    def close(self) -> None:
        end(self.node)
        end(self.feed)


def end(victim: subprocess.Popen[str]) -> None:
    if victim.returncode is None:
        victim.kill()
        victim.communicate()


def children_of(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.fixture
def victims(tmp_path: Path, postgres_server: object) -> Iterator[Victims]:  # noqa: ARG001 - whether there is one at all
    (tmp_path / "block_log").write_bytes(recorded_log("open-main"))
    (tmp_path / "node").mkdir()
    server, users = new_folder(), tmp_path / "users"
    with use(users):
        begin_watch(server, users)
        made = Victims(tmp_path / "node", server)
        try:
            yield made
        finally:
            made.close()


@pytest.mark.parametrize("_round", range(max(1, KILLS // KILLS_A_ROUND)))
def test_whoever_is_killed_all_agree_with_a_clean_replay(victims: Victims, tmp_path: Path, _round: int) -> None:
    random = Random()  # noqa: S311 - moments to kill at, which no seed would bring back
    for number in range(KILLS_A_ROUND):
        with suppress(subprocess.TimeoutExpired):
            victims.node.wait(random.uniform(0, LONGEST_WORK))
        victims.kill(("node", "feed", "server")[number % 3])
    end(victims.node)
    end(victims.feed)
    source = HistorySource(victims.folder, SETTINGS)
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            with Feeder.connected(victims.address, source, SETTINGS, CHAIN) as feeder:
                feed_all(feeder)
            break
        except PostgresUnavailable:  # what a killed feed has left running is still being rolled back
            assert time.monotonic() < ends
            time.sleep(0.1)
    assert list(StoreComparison(victims.address, source, SETTINGS, CHAIN).differences()) == []
    source.close()
    with recording(victims.folder) as chain:
        head, model, held = chain.head_number, clean_replay(chain, tmp_path / "clean", 0), standing(chain)
    with closed_view(victims.folder) as kept, fed_view(victims.address) as fed:
        assert fed.head_number == kept.head_number
        if kept.head_number == head:
            assert_same(fed, model, head)
            assert balances_at(victims.address, head) == held
