"""`ledgerd debug difference`: asks again on what two nodes differed, of a state that is made from the blocks."""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
from collections.abc import Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.ledger.events import AppliedOperation, BlockApplied
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.histories import RecordedOperation
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.cli.shared.configured import configuration_of
from ledgerd.cli.shared.terminal import progress, report, require_room
from ledgerd.client.differing import differences
from ledgerd.compare.asking import FIELDS_OF_A_NODE
from ledgerd.compare.node import SHOWN, NodeAnswer
from ledgerd.history.filters.filters import OperationFilter
from ledgerd.history.settings import HistorySettings
from ledgerd.history.store.pieces import shown_order
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.logging.setup import set_up_for_person
from ledgerd.node.config.network import network_of
from ledgerd.node.datadir.directory_blocks import directory_blocks
from ledgerd.node.datadir.past_state import MadeState, PastState
from ledgerd.projections.reading import ProjectionReader
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.properties import json_defaults_of
from ledgerd.rpc.api import APIS
from ledgerd.rpc.api.blocks.block_info import BLOCK_INFO
from ledgerd.rpc.api.database_api.globals import Storage
from ledgerd.rpc.api.history.operation_history import ACCOUNT_HISTORY, OPERATION_HISTORY
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node
from ledgerd.rpc.link.link import Link
from ledgerd.shadow.keeping.bundles import SNAPSHOT, Bundle, KeptAnswer, read_bundle
from ledgerd.shadow.snapshots.outcome import records_at
from ledgerd.snapshot.importing import import_progress
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.views.reader import StateReader
from ledgerd.supervision.this_process import search_rarely

AS_OURS, AS_THEIRS, AS_NEITHER = 0, 3, 4
MOST_SHOWN = 20
RECORDED = {each.name for each in (ACCOUNT_HISTORY, BLOCK_INFO, OPERATION_HISTORY)}
"""APIs whose answers a node has recorded while blocks came, which a state does not hold."""


class ReplayedOperations(Observer):
    """The operations of one block, virtual ones included, when it is applied."""

    def __init__(self, number: int, only_virtual: bool, settings: HistorySettings) -> None:
        self._number = number
        self._only_virtual = only_virtual
        self._filter = OperationFilter(settings)
        self._found: list[AppliedOperation] | None = None

    def applied(self, event: BlockApplied) -> None:
        if event.block.number == self._number:
            self._found = self._filter.kept(event)

    @property
    def answer(self) -> NodeAnswer:
        """The operations as `get_ops_in_block` answers them."""
        if self._found is None:
            raise OperatorError(
                f"the replay has not applied block {self._number}: name a snapshot of an earlier block with --snapshot"
            )
        shown = (each for each in self._found if each.virtual_operation or not self._only_virtual)
        return NodeAnswer([json.loads(RecordedOperation(*each).text) for each in sorted(shown, key=shown_order)])


def run(chosen: argparse.Namespace) -> int:
    bundle = read_bundle(chosen.file)
    configuration = configuration_of(chosen)
    operations = _operations_asked(bundle, configuration)
    if operations is None and bundle.question.api in RECORDED:
        raise OperatorError(
            f"{bundle.question.words} asks for what a node has recorded while blocks came, which no state holds: look "
            "whether another difference of these blocks can be asked again, or have the history made again by `ledgerd "
            "history rebuild`"
        )
    search_rarely()
    with tempfile.TemporaryDirectory(dir=chosen.work) as folder:
        target = Path(folder) / "state"
        observers = [] if operations is None else [operations]
        made, network = _make(chosen, configuration, bundle.block, target, observers)
        if made.block_id != bundle.block_id:
            raise OperatorError(
                f"block {bundle.block} is {made.block_id} here, and the nodes differed at {bundle.block_id}: "
                "take the data directory of a node that was on that branch"
            )
        if operations is not None:
            answer = operations.answer
        elif bundle.question.api == SNAPSHOT:
            answer = records_in(bundle, network, target / STATE_FOLDER)
        else:
            answer = ask(bundle, network, target, chosen.data_dir / STATE_FOLDER)
    return _told(bundle, KeptAnswer.of(answer))


def _operations_asked(bundle: Bundle, configuration: Configuration) -> ReplayedOperations | None:
    """An observer of the replay, for a question about the operations of a block; None for any other question."""
    question = bundle.question
    match question.api, question.method, question.arguments:
        case OPERATION_HISTORY.name, "get_ops_in_block", [int(number), bool(only_virtual)]:
            return ReplayedOperations(number, only_virtual, configuration.history)
    return None


def _make(
    chosen: argparse.Namespace, configuration: Configuration, at: int, target: Path, observers: Sequence[Observer]
) -> tuple[MadeState, ChainParameters]:
    options, network = configuration.chain, network_of(configuration)
    if not chosen.data_dir.is_dir():
        raise OperatorError(f"there is no data directory {chosen.data_dir}")
    with directory_blocks(options.shared_file_dir, chosen.data_dir / STATE_FOLDER, options.block_archive_dir) as blocks:
        past = PastState(configuration, network, blocks, at, target)
        require_room(past.needs(), target.parent, "needed")
        with set_up_for_person(logging.getLogger(import_progress.__name__)):
            begun = past.begin(chosen.snapshot)
        with progress("replaying", at, done=begun) as advance:
            return past.replay(advance, observers), network


def ask(bundle: Bundle, network: ChainParameters, folder: Path, logs: Path) -> NodeAnswer:
    """The answer of this program to the question, over the state in a folder and the blocks of the node."""
    state, question = folder / STATE_FOLDER, bundle.question
    request = {"jsonrpc": "2.0", "id": 1, "method": "call"}
    request["params"] = [question.api, question.method, question.arguments]
    with (
        closing(BlockLogReader.open(logs)) as whole,
        closing(RollingBlockLogReader.open(logs)) as rolling,
        StateReader.open(state, STORED_TABLES) as reader,
        ProjectionReader(state) as kept,
    ):
        services: dict[type, object] = {KeptBlocks: KeptBlocks(whole, rolling), Storage: Storage(state)}
        node = Node(network, reader.snapshot, Link(), services, kept.snapshot)
        raw = Dispatcher(APIS, node, lambda: 0.0, limits=Limits()).answer(json.dumps(request).encode())
    if not isinstance(raw, bytes):
        raise OperatorError(f"{question.words} is not answered from a state alone")
    envelope = json.loads(raw.decode("utf-8", "surrogateescape"))
    if "result" in envelope:
        return NodeAnswer(envelope["result"])
    return NodeAnswer(None, str(envelope["error"]["message"]).strip())


def records_in(bundle: Bundle, network: ChainParameters, state: Path) -> NodeAnswer:
    """The records in which two snapshots differed, of the state in a folder."""
    with (
        StateReader.open(state, STORED_TABLES) as reader,
        reader.snapshot() as view,
        json_defaults_of(network),
    ):
        return NodeAnswer(records_at(view, bundle.question.arguments))


def _told(bundle: Bundle, answer: KeptAnswer) -> int:
    report(f"asked again at block {bundle.block}, of a state made from the blocks: {bundle.question.words}")
    of_a_node = FIELDS_OF_A_NODE.get(f"{bundle.question.api}.{bundle.question.method}", set())
    found = [_where(answer, given, of_a_node) for given in bundle.answers]
    if not any(found):
        report("both have said this: the difference is gone with this version")
    for name, lines in zip(bundle.nodes, found, strict=True):
        report(f"{name} has said something else:" if lines else f"{name} has said the same")
        for line in lines:
            report(f"  {line}")
    if all(found):
        return AS_NEITHER
    return AS_THEIRS if found[0] else AS_OURS


def _where(answer: KeptAnswer, given: KeptAnswer, of_a_node: set[str]) -> list[str]:
    """Lines on the first differences between two answers; none if the answers are equal."""
    if answer.error or given.error:
        is_same = answer.error.splitlines()[-1:] == given.error.splitlines()[-1:]
        return [] if is_same else [f"{_said(given)}, not {_said(answer)}"]
    if answer.checksum == given.checksum:
        return []
    if not answer.is_whole or not given.is_whole:
        return [f"an answer of {given.length:,} characters, not of {answer.length:,}"]
    every = list(islice(differences(json.loads(answer.text), json.loads(given.text)), MOST_SHOWN))
    if not every:
        return ["another value of what looks like a private key, and is not in the file"]
    found = (each for each in every if each.place not in of_a_node)
    return [f"{each.place or 'the answer'}: {each.second}, not {each.first}" for each in found]


def _said(answer: KeptAnswer) -> str:
    return f"the error {answer.error[:SHOWN]!r}" if answer.error else "a result"
