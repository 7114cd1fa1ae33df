"""A history in step with its chain: through fork switches, commits that were cut in two, gaps and damage."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.events import Event
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.embedded.following import follow, open_history
from ledgerd.history.errors import HistoryDamaged, HistoryNewer
from ledgerd.history.settings import HistorySettings
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.state.files.disk import DATA_FILE
from tests.chain.networks import ALICE, BOB, OTHERS, SEVEN, VIZ, Network, key_of, start_seven
from tests.chain.observing import CommitObserver, observe
from tests.history.histories import HISTORY_FOLDER, SMALL, followed, open_store, view_of
from tests.history.model import Model, assert_same

Fresh = Callable[[], Network]


class CutOff(Exception):
    """The node dies here."""


EVENTS: list[Event] = []
"""What the history of the base was told."""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network whose history begins below its irreversible block."""
    folder = tmp_path_factory.mktemp("seven") / "base"
    network = start_seven(folder)
    with network.chain as chain, followed(chain, folder) as store:
        observe(chain, EVENTS.append)
        began = chain.head_number
        network.produce(40)
        assert chain.irreversible > began
        assert store.head_number == chain.head_number
    return folder


@pytest.fixture
def fresh(base: Path, tmp_path: Path) -> Iterator[Fresh]:
    """Nodes that stand at the same block, as many as a test wants."""
    numbers = count()
    opened: list[Network] = []

    def make() -> Network:
        folder = tmp_path / str(next(numbers))
        shutil.copytree(base, folder)
        opened.append(open_network(folder))
        return opened[-1]

    yield make
    for network in opened:
        network.chain.close()


def open_network(folder: Path) -> Network:
    network = Network(folder, SEVEN)
    network.keys |= {name: key_of(name) for name in OTHERS}
    return network


def branch(network: Network, length: int, skipped: int, memo: str) -> list[Block]:
    """Blocks with transfers; the first one leaves slots out."""
    blocks = []
    for number in range(length):
        network.send(Transfer(VIZ, ALICE, tokens(1), memo), Transfer(VIZ, BOB, tokens(2 + number), memo))
        blocks += network.produce(skipped=0 if number else skipped)
    return blocks


def modelled(chain: Chain) -> Model:
    model = Model()
    for event in EVENTS:
        model.take(event)
    observe(chain, model.take)
    return model


def check(store: EmbeddedStore, network: Network, model: Model, first: int) -> None:
    with view_of(store, network.folder) as view:
        assert_same(view, model, network.chain.head_number, first)


def test_what_a_fork_switch_undoes_leaves_no_trace(fresh: Fresh) -> None:
    node, other = fresh(), fresh()
    first = node.chain.head_number + 1
    model = modelled(node.chain)
    with followed(node.chain, node.folder) as store:
        branch(node, 2, 0, "short")
        check(store, node, model, first)
        node.follow(branch(other, 4, 1, "long"))
        assert node.chain.head_id == other.chain.head_id
        check(store, node, model, first)
        with view_of(store, node.folder) as view:
            texts = "".join(each for number in range(first, first + 4) for each in view.operations_of(number))
        assert "long" in texts
        assert "short" not in texts


def test_a_switch_that_was_cut_in_two_is_told_again(fresh: Fresh) -> None:
    """The history has the new branch, the state still the old one."""
    node, other = fresh(), fresh()
    first = node.chain.head_number + 1
    model = modelled(node.chain)
    long = branch(other, 4, 1, "long")
    with followed(node.chain, node.folder) as store:
        branch(node, 2, 0, "short")

        def die(_: Sequence[Event]) -> None:
            if store.head_number >= first + 2:
                raise CutOff

        node.chain.observe(CommitObserver(die))
        with pytest.raises(CutOff):
            node.follow(long)
        node.chain.close()
    node.chain = open_network(node.folder).chain
    assert node.chain.head_number == first + 1
    with followed(node.chain, node.folder) as store:
        check(store, node, model, first)
        observe(node.chain, model.take)
        node.follow(long)
        assert node.chain.head_id == long[-1].id
        check(store, node, model, first)


def test_a_commit_of_the_history_alone_is_taken_back(fresh: Fresh) -> None:
    node = fresh()
    first = node.chain.head_number + 1
    model = modelled(node.chain)
    with followed(node.chain, node.folder):
        branch(node, 3, 0, "before")

        def die(_: Sequence[Event]) -> None:
            raise CutOff

        node.chain.observe(CommitObserver(die))
        with pytest.raises(CutOff):
            branch(node, 1, 0, "never")
        node.chain.close()
    node.chain = open_network(node.folder).chain
    with followed(node.chain, node.folder) as store:
        assert store.head_number == node.chain.head_number == first + 2
        check(store, node, model, first)


def test_reversible_blocks_that_a_history_lacks_are_told_again(fresh: Fresh) -> None:
    node = fresh()
    model = modelled(node.chain)
    first = node.chain.head_number + 1
    with followed(node.chain, node.folder):
        branch(node, 1, 0, "heard")
        node.chain.close()
    node.chain = open_network(node.folder).chain
    observe(node.chain, model.take)
    branch(node, 2, 0, "missed")
    head = node.chain.head_id
    with open_store(node.chain, node.folder) as store:
        follow(node.chain, store)
        assert store.head_number == node.chain.head_number
        assert node.chain.head_id == head
        check(store, node, model, first)


def test_irreversible_blocks_that_a_history_lacks_are_the_operators_to_rebuild(
    fresh: Fresh, caplog: pytest.LogCaptureFixture
) -> None:
    node = fresh()
    with followed(node.chain, node.folder) as store:
        branch(node, 1, 0, "heard")
        heard = store.head_number
        store.close()
        node.chain.close()
    node.chain = open_network(node.folder).chain
    node.produce(60)
    assert node.chain.irreversible > heard
    with caplog.at_level(logging.WARNING), followed(node.chain, node.folder):
        assert f"lacks the operations of blocks {heard + 1} to {node.chain.head_number}" in caplog.text
        assert "ledgerd history rebuild" in caplog.text


def test_a_damaged_history_is_put_aside_and_the_chain_goes_on(fresh: Fresh, caplog: pytest.LogCaptureFixture) -> None:
    node = fresh()
    folder = node.folder / HISTORY_FOLDER
    open_history(node.chain, folder, HistorySettings(), SMALL).close()
    (folder / DATA_FILE).write_bytes(b"\xff" * 20_000)
    node.reopen()
    with open_history(node.chain, folder, HistorySettings(), SMALL) as store:
        node.keys |= {name: key_of(name) for name in OTHERS}
        branch(node, 1, 0, "later")
        assert store.head_number == node.chain.head_number
    assert (folder.parent / "history.damaged" / DATA_FILE).exists()
    assert "ledgerd history rebuild" in caplog.text


def test_a_history_that_turns_out_to_be_damaged_does_not_stop_the_chain(
    fresh: Fresh, caplog: pytest.LogCaptureFixture
) -> None:
    node = fresh()
    with followed(node.chain, node.folder) as store:
        with store.environment.begin(write=True) as transaction:
            transaction.drop(store.environment.open_db(b"chunks", transaction), delete=False)
        heard = store.head_number
        branch(node, 2, 0, "unheard")
        assert store.head_number == heard
    assert caplog.text.count("the history stops: the history is damaged") == 1


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        (b"ledgerd history 4", HistoryDamaged, "another version of this program"),
        (b"ledgerd history 9", HistoryNewer, "has format 9, and this program knows 5"),
    ],
)
def test_a_history_of_another_version_is_not_touched(
    fresh: Fresh, text: bytes, error: type[HistoryDamaged], words: str
) -> None:
    node = fresh()
    with open_store(node.chain, node.folder) as store, store.environment.begin(write=True) as transaction:
        transaction.put(b"format", text, db=store.environment.open_db(b"header", transaction))
    with pytest.raises(error, match=words):
        open_store(node.chain, node.folder)
