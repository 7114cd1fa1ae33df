"""What blocks change of accounts is told by images: all of them together are the accounts as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.events import BlockApplied, BlocksUndone, Event
from ledgerd.projections.accounts.images import GONE, IMAGES, AccountImage, images_in
from ledgerd.protocol.blocks.block import Block
from tests.chain.observing import observe
from tests.chain.recorded_chains import advance, open_chain

Known = dict[tuple[int, str], bytes]


def standing(chain: Chain) -> Known:
    with chain.committed() as state:
        return {(kind, name): row for kind, name, row in images_in(state)}


def without_gone(known: Known) -> Known:
    """Without accounts that were removed, and what was kept of them; and without votes for nobody."""
    gone = {name for (kind, name), row in known.items() if kind == 0 and row == GONE}
    return {each: row for each, row in known.items() if each[1] not in gone and row != b"\0"}


@pytest.mark.parametrize(("name", "heights"), [("open-1", (50, 300, 700)), ("open-pm", (40, 400))])
def test_changes_lead_from_one_state_to_the_next(name: str, heights: tuple[int, ...], tmp_path: Path) -> None:
    with open_chain(name, tmp_path) as chain:
        known = standing(chain)

        def take(event: Event) -> None:
            assert not isinstance(event, BlocksUndone)
            if isinstance(event, BlockApplied):
                known.update({(kind, account): row for kind, account, row in event.found(IMAGES)})

        observe(chain, take, samplers={Block: (IMAGES,)})
        for height in heights:
            advance(chain, name, height)
            assert without_gone(known) == standing(chain), height


def test_nothing_is_told_unless_somebody_asks(tmp_path: Path) -> None:
    told: list[tuple[AccountImage, ...] | None] = []
    with open_chain("open-2", tmp_path) as chain:
        observe(chain, lambda event: told.append(event.found(IMAGES)) if isinstance(event, BlockApplied) else None)
        advance(chain, "open-2", 2)
        wanting = observe(chain, lambda _: None, samplers={Block: (IMAGES,)})
        advance(chain, "open-2", 4)
        chain.stop_observing(wanting)
        advance(chain, "open-2", 6)
    assert [images is None for images in told] == [True, True, False, False, True, True]
