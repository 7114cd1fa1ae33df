"""What an observer is fed: every block of the final chain, whatever the chain does and wherever either is killed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.history.settings import HistorySettings
from ledgerd.plugins import ObservedBlock, PluginObserver
from ledgerd.plugins.feeding import MOST_MISSED, FeedBroken, ObserverFailed, ObserverFeed
from tests.history.postgres.feeding import source_of
from tests.history.test_against_model import Teller
from tests.rpc.api.history.test_stream import Story


class Killed(BaseException):
    """The process of the observer ends here."""


class Shop(PluginObserver):
    """Keeps what it is sent, for ever; it may be killed before it does and after."""

    def __init__(self, *, keeps_position: bool = False) -> None:
        super().__init__(Path("nowhere"))
        self.blocks: dict[int, ObservedBlock] = {}
        self.final = 0
        self.first = 0
        self.keeps_position = keeps_position
        self.is_killed: Callable[[], bool] = lambda: False
        self.seen: list[str] = []

    def _perhaps_killed(self) -> None:
        if self.is_killed():
            raise Killed

    def position(self) -> int | None:
        return max(self.blocks, default=0) if self.keeps_position else None

    def applied(self, block: ObservedBlock) -> None:
        self._perhaps_killed()
        self.first = self.first or block.number
        number = block.number
        assert number == self.first or self.blocks[number - 1].id == block.previous
        assert all(each <= number for each in self.blocks) or not self.keeps_position
        self.blocks[number] = block
        self.seen.append(str(number))
        self._perhaps_killed()

    def undone(self, number: int) -> None:
        self._perhaps_killed()
        assert number >= self.final
        self.blocks = {each: block for each, block in self.blocks.items() if each <= number}
        self.seen.append(f"undone to {number}")
        self._perhaps_killed()

    def irreversible(self, number: int) -> None:
        self._perhaps_killed()
        self.final = max(self.final, number)


def feed_of(folder: Path, teller: Teller, observer: PluginObserver, start: int = 1) -> ObserverFeed:
    feed = ObserverFeed(source_of(teller.store, folder, teller.log.read), folder / "position.json", observer, start)
    feed.begin()
    return feed


def fed(feed: ObserverFeed) -> ObserverFeed:
    while feed.step():
        pass
    return feed


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1 << 32), keeps_position=st.booleans())
def test_an_observer_has_every_block_of_the_final_chain_through_kills_and_forks(
    seed: int, keeps_position: bool
) -> None:
    random = Random(seed)  # noqa: S311 - a story, no secret
    with TemporaryDirectory() as name:
        folder, story, shop = Path(name), Story(Path(name), random), Shop(keeps_position=keeps_position)
        shop.is_killed = lambda: random.random() < 0.05
        feed: ObserverFeed | None = None
        for turn in range(40):
            story.step()
            if turn == 39:
                story.end()
                shop.is_killed = lambda: False
            try:
                while random.random() < 0.9 or turn == 39:
                    feed = feed or feed_of(folder, story.teller, shop)
                    if not feed.step():
                        break
            except Killed:
                feed = None
            if random.random() < 0.1:
                feed = None
        trunk = story.teller.trunk
        assert [shop.blocks[number].id for number in range(1, len(trunk) + 1)] == [each.id.hex() for each in trunk]
        assert len(shop.blocks) == len(trunk)
        assert shop.final == len(trunk)
        found = [_shown(operation) for number in sorted(shop.blocks) for operation in shop.blocks[number].operations]
        assert found == [_recorded(each) for each in story.expected(len(trunk))]
        story.close()


def _shown(operation: Any) -> list[Any]:
    places = [operation.trx_id, operation.trx_in_block, operation.op_in_trx, operation.virtual_op]
    return [*places, operation.name, operation.value]


def _recorded(shown: dict[str, Any]) -> list[Any]:
    return [*(shown[name] for name in ("trx_id", "trx_in_block", "op_in_trx", "virtual_op")), *shown["op"]]


@pytest.fixture
def teller(tmp_path: Path) -> Any:
    with Teller(tmp_path, HistorySettings()) as teller:
        for _ in range(10):
            teller.block([[1]])
        teller.advance(4)
        teller.commit()
        yield teller


def test_a_block_that_was_sent_and_not_acknowledged_is_taken_back_where_a_fork_has_undone_it(
    tmp_path: Path, teller: Teller
) -> None:
    shop = Shop()
    fed(feed_of(tmp_path, teller, shop)).close()
    teller.block([[2]])
    teller.commit()
    shop.is_killed = lambda: "11" in shop.seen
    with pytest.raises(Killed):
        feed_of(tmp_path, teller, shop).step()
    shop.is_killed = lambda: False
    teller.undo(2)
    teller.block([[3]])
    teller.block([[4]])
    teller.commit()
    shop.seen.clear()
    fed(feed_of(tmp_path, teller, shop))
    assert shop.seen == ["undone to 9", "10", "11"]


def test_without_a_start_only_what_comes_is_sent(tmp_path: Path, teller: Teller) -> None:
    shop = Shop()
    feed = fed(feed_of(tmp_path, teller, shop, start=0))
    assert (shop.seen, feed.behind, shop.final) == ([], 0, 0)
    teller.block([[1]])
    teller.commit()
    fed(feed)
    assert shop.seen == ["11"]
    assert json.loads((tmp_path / "position.json").read_bytes())["next_block"] == 12


@pytest.mark.parametrize(
    ("says", "words"),
    [
        (11, "returns 11, and the head block is 10"),
        (-1, "returns -1, and not the number of a block"),
        (True, "returns a bool, and not the number of a block"),
        ("7", "returns a str, and not the number of a block"),
    ],
)
def test_an_observer_that_lies_about_its_position_is_refused(
    tmp_path: Path, teller: Teller, says: Any, words: str
) -> None:
    class Liar(Shop):
        """Says that it has what it was never sent."""

        def position(self) -> Any:
            return says

    with pytest.raises(FeedBroken, match=words):
        feed_of(tmp_path, teller, Liar())


def test_one_that_claims_more_than_it_was_sent_is_refused_and_less_is_sent_again(
    tmp_path: Path, teller: Teller
) -> None:
    shop = Shop(keeps_position=True)
    feed = feed_of(tmp_path, teller, shop)
    for _ in range(5):
        feed.step()
    feed.close()
    has = shop.blocks[5]
    shop.blocks[7] = has
    with pytest.raises(FeedBroken, match="returns 7, and it was sent no block above 6: put its own data right"):
        feed_of(tmp_path, teller, shop)
    del shop.blocks[7], shop.blocks[5], shop.blocks[4]
    shop.seen.clear()
    fed(feed_of(tmp_path, teller, shop))
    assert shop.seen == ["4", "5", "6", "7", "8", "9", "10"]


def test_reversible_blocks_of_which_only_the_observer_knows_are_sent_again(tmp_path: Path, teller: Teller) -> None:
    """Its folder was moved here, or the file of the position was removed: its branch may be another one."""
    shop = Shop(keeps_position=True)
    fed(feed_of(tmp_path, teller, shop)).close()
    (tmp_path / "position.json").unlink()
    shop.seen.clear()
    fed(feed_of(tmp_path, teller, shop))
    assert shop.seen == ["undone to 6", "7", "8", "9", "10"]


def test_what_the_history_has_not_any_more_is_no_silent_hole(tmp_path: Path) -> None:
    options = HistorySettings(count_blocks=5, purge_interval=1)
    with Teller(tmp_path, options) as teller:
        for _ in range(30):
            teller.block([[1]])
        teller.advance(0)
        teller.commit()
        with pytest.raises(FeedBroken, match="block 1 comes next for it, and the history begins with block 2"):
            feed_of(tmp_path, teller, Shop()).step()


@pytest.mark.parametrize("raised", [ValueError("no third blocks"), SystemExit("no third blocks")])
def test_one_that_raises_says_where_and_is_not_sent_the_next_block(
    tmp_path: Path, teller: Teller, raised: BaseException
) -> None:
    class Picky(Shop):
        """Does not like the third block."""

        def applied(self, block: ObservedBlock) -> None:
            if block.number == 3:
                raise raised
            super().applied(block)

    shop = Picky()
    for seen in (["1", "2"], ["1", "2"]):
        with pytest.raises(
            ObserverFailed, match=rf"applied\(\) has failed at block 3: {type(raised).__name__}: no third"
        ):
            fed(feed_of(tmp_path, teller, shop))
        assert shop.seen == seen  # nothing is sent again


@pytest.mark.parametrize("raw", [b"{", b'{"marks":{"1":"\xff"}}'])
def test_a_position_that_cannot_be_read_says_which_file_it_is(tmp_path: Path, teller: Teller, raw: bytes) -> None:
    (tmp_path / "position.json").write_bytes(raw)
    with pytest.raises(FeedBroken, match=r"position\.json cannot be read"):
        feed_of(tmp_path, teller, Shop())


def test_catching_up_stores_its_position_once_in_many_blocks(tmp_path: Path) -> None:
    with Teller(tmp_path, HistorySettings()) as teller:
        for _ in range(250):
            teller.block([])
        teller.advance(0)
        teller.commit()
        feed = feed_of(tmp_path, teller, Shop())
        stored: set[bytes] = set()
        while feed.step():
            stored.add((tmp_path / "position.json").read_bytes())
        assert len(stored) == 3
        assert msgspec.json.decode(stored.pop())["final"] >= 0
        assert MOST_MISSED == 1_000
