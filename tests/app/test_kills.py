"""Applications in processes of their own, killed at random moments while the chain forks: their tables are those of a
run without either.

`APPLICATION_KILLS=100 scripts/test tests/app/test_kills.py` kills each example a hundred times, over 200 forks.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from random import Random

import pytest

from tests.app.examples import CHAINS, FOLDER, NAMES, example, without_tip
from tests.app.feeding.test_following import follow
from tests.app.forking_nodes import ForkingNode, script_of, settled
from tests.app.random_applications import content
from tests.postgres import SharedServer, postgres_server
from tests.sdk.recorded_nodes import serving_nodes

__all__ = ["postgres_server"]

KILLS = int(os.environ.get("APPLICATION_KILLS", "2"))
FORKS = 2 * KILLS
LONGEST_LIFE = 0.08
"""Seconds from the first request of a process to its end."""
PATIENCE = 60.0 + 4.0 * KILLS
ENVIRONMENT = {**os.environ, **NAMES}


class KillingNode(ForkingNode):
    """A node whose client may not live long. Its chain goes on only while somebody asks, so that nothing is missed."""

    def __init__(self, chain: str, random: Random) -> None:
        super().__init__(chain, 160 + 5 * FORKS, script_of(random, FORKS), start=120)
        self._random = random
        self.kills = 0

    async def run(self, words: list[str]) -> None:
        """Run a process up to the last block, again and again."""
        while True:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "ledgerd.cli", *words, env=ENVIRONMENT, stderr=asyncio.subprocess.PIPE
            )
            asked = asyncio.Event()
            self.reported = asked.set
            ended = asyncio.ensure_future(process.communicate())
            if self.kills < KILLS:
                await asyncio.wait([ended, asyncio.ensure_future(asked.wait())], return_when=asyncio.FIRST_COMPLETED)
                await asyncio.wait([ended], timeout=self._random.uniform(0, LONGEST_LIFE))
                if process.returncode is None:
                    self.kills += 1
                    process.kill()
                    await ended
                    continue
            _, said = await ended
            assert process.returncode == 0, said.decode()
            return


def killed(name: str, database: str) -> KillingNode:
    """Follow a forking chain with an example that is killed; the node as it is in the end."""
    node = KillingNode(CHAINS[name], Random(f"{name} {KILLS}"))  # noqa: S311 - the same in every run

    async def scene() -> None:
        async with asyncio.timeout(PATIENCE), serving_nodes([node]) as urls:
            file = str(FOLDER / f"{name}.py")
            words = ["app", "run", file, "--node", urls[0], "--database", database, "--until", str(node.last)]
            await node.run(words)

    asyncio.run(scene())
    return node


def compare(name: str, database: str, node: KillingNode, clean: Path) -> None:
    application = example(name)
    follow(application, settled(node), clean, node.last)
    expected = without_tip(content(str(clean), application.tables))
    assert without_tip(content(database, application.tables)) == expected


@pytest.mark.parametrize("name", CHAINS)
def test_kills_and_forks_leave_the_tables_of_a_clean_run(name: str, tmp_path: Path) -> None:
    database = str(tmp_path / "killed.sqlite")
    node = killed(name, database)
    compare(name, database, node, tmp_path / "clean.sqlite")
    print(f"{name}: {node.kills} kills, {node.forks} forks")  # noqa: T201 - what a long run is made for


def test_kills_and_forks_leave_the_same_in_postgres(postgres_server: SharedServer, tmp_path: Path) -> None:
    database = postgres_server.database("template0")
    node = killed("deposits", database)
    compare("deposits", database, node, tmp_path / "clean.sqlite")
    postgres_server.drop(database)
