"""Applications fed by nodes: over the past, live, over forks, and what happens when something fails."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from ledgerd.app.declaring.application import Application
from ledgerd.app.feeding.settings import FeedSettings
from ledgerd.app.process import live
from tests.app.examples import CHAINS, example, without_tip
from tests.app.forking_nodes import ForkingNode, script_of, settled
from tests.app.random_applications import content
from tests.rpc.loopback import play
from tests.sdk.recorded_nodes import serving_nodes
from tests.sdk.scripted_node import ScriptedNode


def follow(application: Application, node: ScriptedNode, database: Path, until: int) -> None:
    async def scene() -> None:
        async with serving_nodes([node]) as urls:
            settings = FeedSettings(
                nodes=tuple(urls), database=str(database), until=until, poll_seconds=0.001, first_pause=0.001
            )
            await live(application, settings, None)

    play(scene)


@pytest.mark.parametrize("name", CHAINS)
def test_forks_on_the_way_leave_the_tables_of_a_chain_that_never_forked(name: str, tmp_path: Path) -> None:
    application = example(name)
    script = script_of(Random(name), 12)  # noqa: S311 - the same in every run
    node = ForkingNode(CHAINS[name], 250, script, start=120)
    follow(application, node, tmp_path / "forks.sqlite", node.last)
    assert node.forks >= 10
    follow(application, settled(node), tmp_path / "clean.sqlite", node.last)

    found, clean = (content(str(tmp_path / f"{each}.sqlite"), application.tables) for each in ("forks", "clean"))
    assert without_tip(found) == without_tip(clean)
    assert all(found[table.name] for table in application.tables.sorted_tables if table.name != "results")
