"""Findings on the state and the block log, by cheap checks, beside a running node too."""

from __future__ import annotations

from collections.abc import Iterator

from ledgerd.basics.durable import waited_for_in
from ledgerd.basics.durations import DAY
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.files import LogDamaged
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.chain.log.state_blocks import CHAIN_ID, IMPORTED, LATEST, LOG_KIND
from ledgerd.chain.rules.validators.unknown_hardforks import unknown_hardfork_votes
from ledgerd.codec import codec_of
from ledgerd.codec.errors import CodecError
from ledgerd.doctor.examined_node import ExaminedNode
from ledgerd.doctor.finding import Finding, error, warning
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.types.identifiers import block_number_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.versions import version_text
from ledgerd.state.errors import StorageError, StoreNewer
from ledgerd.state.files.disk import DATA_FILE
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, BLOCK_SUMMARY_COUNT
from ledgerd.state.objects.validators import VALIDATOR_BY_NAME
from ledgerd.state.views.reader import StateReader
from ledgerd.state.views.view import View


def ledger(node: ExaminedNode, now: int) -> Iterator[Finding]:
    """All findings on the state, the log and what the chain says of our validators; `now` is the network's time."""
    pipe = waited_for_in((node.state_dir, node.log_dir))
    if pipe is not None:
        yield error(
            "data-dir-pipe",
            what=f"{pipe} is a pipe or a device, and no file",
            why="the node would wait for it for ever, and does not start",
            do="remove it, and put the file back in its place from a backup",
        )
        return
    if not (node.state_dir / DATA_FILE).exists():
        yield warning(
            "state-missing",
            what=f"there is no state in {node.state_dir}",
            why="the node has never run here, or its disk is not mounted; it would begin from a snapshot or genesis",
            do="start it, if that is meant; else mount the disk, or correct --data-dir",
        )
        return
    try:
        with StateReader.open(node.state_dir, STORED_TABLES) as reader, reader.snapshot() as state:
            yield from _of_state(node, state, now)
    except StoreNewer as problem:
        yield error(
            "state-newer",
            what=str(problem),
            why="this program cannot read it, and does not start on it; nothing of it is lost",
            do="install that version again; docs/upgrading.md has the way back",
        )
    except StorageError as problem:
        yield error(
            "state-damaged",
            what=str(problem),
            why="the node cannot go on from this state",
            do="start the node: it makes the state again from a snapshot or the block log; look at the disk (`dmesg`, "
            "`smartctl -a`)",
        )


def _of_state(node: ExaminedNode, state: View, now: int) -> Iterator[Finding]:
    chain_id = state.meta(CHAIN_ID)
    if chain_id is not None and chain_id != node.network.chain_id:
        yield error(
            "state-of-another-chain",
            what=f"the state in {node.state_dir} is of the chain {chain_id.hex()[:16]}..., not of {node.network.name}",
            why="the node does not start",
            do="choose the right `chain`, or another --data-dir",
        )
        return
    yield from _log(node, state)
    yield from _hardfork(node, state, now)
    for name in node.validators:
        yield from _validator(node, state, name)


def _log(node: ExaminedNode, state: View) -> Iterator[Finding]:
    last = state.get(DYNAMIC_GLOBAL_PROPERTIES, 0).last_irreversible_block_num
    kept = state.meta(LOG_KIND)
    if not last or kept == IMPORTED:
        return
    log = (RollingBlockLogReader if kept == LATEST else BlockLogReader).open(node.log_dir)
    problem = ""
    if log.head_number < last and not (kept == LATEST and log.head_number == 0):
        problem = f"it ends at block {log.head_number}, and the last irreversible block of the state is {last}"
    elif log.head_number:
        problem = _mismatch(log, state, last)
    if problem:
        yield error(
            "block-log-unfit",
            what=f"{log.path} does not go with the state: {problem}",
            why="the node puts back what the state still has; where blocks are lost it does not start",
            do="start the node and follow what it says; it names each way out (docs/operating.md, `is missing or "
            "empty`)",
        )


def _mismatch(log: BlockLogReader, state: View, number: int) -> str:
    summary = state.find(BLOCK_SUMMARIES, number % BLOCK_SUMMARY_COUNT)
    if summary is None or block_number_of(summary.block_id) != number:
        return ""
    try:
        packed = log.read(number)
        if packed is None or codec_of(Block).decode_exactly(packed).id == summary.block_id:
            return ""
    except (LogDamaged, CodecError) as problem:
        return str(problem)
    return f"its block {number} is another one"


def _hardfork(node: ExaminedNode, state: View, now: int) -> Iterator[Finding]:
    votes = unknown_hardfork_votes(state, node.network)
    if votes is None:
        return
    days = max(0, votes.time - now) / DAY
    make = error if votes.is_agreed or votes.votes >= votes.required else warning
    yield make(
        "hardfork-unknown",
        what=f"{days:.1f} days are left until hardfork {version_text(votes.version)}, which this program does not know "
        f"({votes.votes} of {votes.validators} validators vote for it, {votes.required} are required)",
        why="this program stops at the block of that hardfork, and a validator with it misses every slot",
        do="install a release that knows the hardfork before then",
    )


def _validator(node: ExaminedNode, state: View, name: AccountName) -> Iterator[Finding]:
    validator = state.lookup(VALIDATOR_BY_NAME, name)
    if validator is None:
        yield error(
            "validator-unknown",
            what=f"there is no validator {name} on the chain, as far as this node has followed it",
            why="no block is made for it",
            do="correct the name, or declare the validator (docs/validators.md)",
        )
    elif validator.signing_key == NULL_KEY:
        yield warning(
            "validator-switched-off",
            what=f"the validator {name} has no signing key on the chain",
            why="it gets no slots: it was switched off by its operator, by the guard, or after 200 missed blocks",
            do="find out why, then set the key again with `update` (docs/validators.md)",
        )
    elif validator.signing_key not in node.signing_keys:
        yield error(
            "signing-key-not-ours",
            what=f"the chain has another signing key for the validator {name} than this node",
            why="no block is made for it, and it misses its slots",
            do="give the node the key that the chain has, or declare the public key of the one here, which "
            "`ledgerd key FILE` prints",
        )
