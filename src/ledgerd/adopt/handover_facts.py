"""What a hand-over is judged by: our node's answers and files, and what can be seen of the `vizd`."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import msgspec

from ledgerd.adopt.vizd_directory import CONFIGURATION, PROCESSES, AdoptionRefused, require_unused
from ledgerd.codec import codec_of
from ledgerd.codec.errors import CodecError
from ledgerd.codec.json.text import Json
from ledgerd.compare.asking import NodeHead, head_of
from ledgerd.compare.blocks import id_of
from ledgerd.compare.node import ComparedNode, NobodyListens, NotComparable
from ledgerd.producer.settings import LOADED_KEYS, ProducerSettings
from ledgerd.producer.signing.double_sign import LastSigned, SignedSlot
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.validators import ValidatorUpdate
from ledgerd.protocol.types.arrays import NameRow
from ledgerd.protocol.types.time_text import parse_time_text
from ledgerd.state.files.lock import LOCK_FILE, holder_of, lock_writer

ATTEMPTS = 4

MOST_SLOTS = 256
"""Slots of a round that are believed; the network has 21."""

SEARCHED_AT_ONCE = 100

LARGEST_LIST = 1 << 16

WallClock = Callable[[], float]


class PropertiesAnswer(msgspec.Struct):
    """The fields of the global properties that are used."""

    time: str
    current_aslot: int


class ScheduleAnswer(msgspec.Struct):
    """The fields of the schedule that are used."""

    current_shuffled_validators: str
    num_scheduled_validators: int


class ValidatorAnswer(msgspec.Struct):
    """The fields of a validator's record that are used."""

    signing_key: str
    total_missed: int
    last_confirmed_block_num: int


class Presence(Enum):
    """Whether the other program runs."""

    UP = "up"
    GONE = "gone"
    UNKNOWN = "unknown"


class LastBlock(NamedTuple):
    """The validator's latest block on the chain of our node."""

    number: int
    time: int
    signee: str
    digest: bytes


class ChainFacts(NamedTuple):
    """The chain, as our node answers, all at one head."""

    head: NodeHead
    time: int
    """The time of the head block."""
    age: float
    """Seconds since then, by the clock of this machine."""
    signing_key: str
    missed: int
    last: LastBlock | None
    round_seconds: int
    places: int
    """The slots of a full schedule. A node that has started watches so many slots before it signs."""
    quiet_slots: int
    """Slots from the next one on that are known to be of others."""
    irreversible_key: str
    """The key that the latest irreversible declaration has named, of those that were seen; empty if none was."""


class OurFacts(NamedTuple):
    """Our node, by its data directory."""

    is_running: bool
    keys: frozenset[str]
    names: frozenset[str]
    is_current: bool
    """Whether it was started after its configuration was changed last."""
    signed: SignedSlot | None


class OtherFacts(NamedTuple):
    """The `vizd`, as far as it can be seen."""

    presence: Presence
    head: NodeHead | None = None
    problem: str = ""
    """Why its answers are not believed."""
    is_common: bool = True
    """Whether both nodes have the same block at the lower of their heads."""


class HandoverStatus(NamedTuple):
    """Everything at one look."""

    chain: ChainFacts | None
    problem: str
    ours: OurFacts
    theirs: OtherFacts


class OurNode:
    """Our node: its data directory, and its address."""

    def __init__(
        self,
        folder: Path,
        chain_id: bytes,
        node: ComparedNode,
        settings: Callable[[], ProducerSettings],
        clock: WallClock,
    ) -> None:
        self.folder = folder
        self.node = node
        self._chain_id = chain_id
        self._settings = settings
        self._clock = clock
        self._searched: int | None = None
        self._irreversible_key = ""

    def facts(self) -> OurFacts:
        settings, loaded = self._settings(), self.folder / LOADED_KEYS
        keys = {public_key_text(key.public) for key in settings.options_keys}
        if loaded.is_file():
            with loaded.open("rb") as file:
                keys |= set(file.read(LARGEST_LIST).decode("ascii", "replace").split())
        is_running = holder_of(self.folder) is not None
        signed = LastSigned(self.folder, self._chain_id).latest
        is_current = _changed(self.folder / LOCK_FILE) >= _changed(self.folder / CONFIGURATION)
        names = frozenset(settings.names)
        return OurFacts(is_running, frozenset(keys if is_running else ()), names, is_current, signed)

    def record(self, block: Block) -> None:
        """Have our node sign nothing for the slots up to that of a block; raises `StoreLocked` while it runs."""
        with lock_writer(self.folder):
            LastSigned(self.folder, self._chain_id).record(block)

    def chain(self, validator: str) -> ChainFacts:
        for _ in range(ATTEMPTS):
            head = head_of(self.node)
            found = self._at(head, validator)
            if head_of(self.node) == head:
                return found
        raise self.node.fault("gives another head block at every question")

    def head_block(self) -> Block:
        head = head_of(self.node)
        block = self._block(head.number)
        if block.id.hex() != head.id:
            raise self.node.fault(f"gives a block {block.id.hex()} where its head is {head.id}")
        return block

    def _at(self, head: NodeHead, validator: str) -> ChainFacts:
        node = self.node
        answers = (
            node.value("database_api", "get_dynamic_global_properties"),
            node.value("validator_api", "get_validator_schedule"),
            node.value("validator_api", "get_validator_by_account", validator),
        )
        if answers[2] is None:
            raise node.fault(f"knows no validator {validator}: is the name right, and the node in step?")
        self._search(head, validator)
        try:
            properties = msgspec.convert(answers[0], PropertiesAnswer, strict=False)
            turns = turns_of(msgspec.convert(answers[1], ScheduleAnswer, strict=False))
            record = msgspec.convert(answers[2], ValidatorAnswer, strict=False)
            time = parse_time_text(properties.time)
        except (ValueError, CodecError) as problem:  # msgspec's errors are values that are wrong, too
            raise node.fault("does not answer as a node does") from problem
        number = record.last_confirmed_block_num
        return ChainFacts(
            head,
            time,
            self._clock() - time,
            record.signing_key,
            record.total_missed,
            self._last(number, validator) if number else None,
            len(turns.names) * BLOCK_INTERVAL,
            turns.places,
            quiet_slots(turns, properties.current_aslot, head.number, validator),
            self._irreversible_key,
        )

    def _last(self, number: int, validator: str) -> LastBlock | None:
        """The validator's latest block; None if the node began after it."""
        if self.node.value("database_api", "get_block_header", number) is None:
            return None
        block = self._block(number)
        if block.validator != validator:
            raise self.node.fault(f"says that block {number} is of {validator}, and gives one of {block.validator}")
        return LastBlock(number, block.timestamp, public_key_text(block.signee), block.header.digest)

    def _search(self, head: NodeHead, validator: str) -> None:
        if self._searched is None:
            self._searched = head.irreversible
        for number in range(self._searched + 1, min(head.irreversible, self._searched + SEARCHED_AT_ONCE) + 1):
            for transaction in self._block(number).transactions:
                for operation in transaction.operations:
                    if isinstance(operation, ValidatorUpdate) and operation.owner == validator:
                        self._irreversible_key = public_key_text(operation.block_signing_key)
            self._searched = number

    def _block(self, number: int) -> Block:
        given: Json = self.node.value("database_api", "get_block", number)
        try:
            block = codec_of(Block).from_json(given)
            if block.number == number:
                return block
        except (CodecError, RuleViolation, TypeError):
            pass
        raise self.node.fault(f"does not give block {number} as a node does")


class ScheduleTurns(NamedTuple):
    """The validators of a round, in the order of their slots."""

    names: tuple[str, ...]
    places: int
    """The slots of a full schedule."""


def turns_of(answer: ScheduleAnswer) -> ScheduleTurns:
    """The names that count, of all places (spec 05, section 11)."""
    names, count = codec_of(NameRow).from_json(answer.current_shuffled_validators), answer.num_scheduled_validators
    if not 0 < count <= len(names) <= MOST_SLOTS:
        raise ValueError(count)
    return ScheduleTurns(tuple(names[:count]), len(names))


def quiet_slots(turns: ScheduleTurns, aslot: int, head: int, validator: str) -> int:
    """Rounds end with blocks whose number the places of a full schedule divide (spec 03, section 17)."""
    known = turns.places - head % turns.places
    ours = (slot for slot in range(known) if turns.names[(aslot + slot + 1) % len(turns.names)] == validator)
    return next(ours, known)


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


class OtherNode:
    """The `vizd`: by its address, by its data directory on this machine, or by neither."""

    def __init__(self, node: ComparedNode | None, folder: Path | None) -> None:
        self.node = node
        self._folder = folder

    def facts(self, ours: ComparedNode) -> OtherFacts:
        if self._folder is not None and _is_in_use(self._folder):
            return self._answers(ours)._replace(presence=Presence.UP)
        found = self._answers(ours)
        if found.presence is Presence.UNKNOWN and self._folder is not None and may_be_inspected(self._folder):
            return found._replace(presence=Presence.GONE)
        return found

    def _answers(self, ours: ComparedNode) -> OtherFacts:
        if self.node is None:
            return OtherFacts(Presence.UNKNOWN)
        try:
            head = head_of(self.node)
        except NobodyListens:
            return OtherFacts(Presence.GONE)
        except NotComparable as problem:
            presence = Presence.UP if self.node.is_listening else Presence.UNKNOWN
            return OtherFacts(presence, problem=str(problem))
        try:
            our_head = head_of(ours)
            number = min(head.number, our_head.number)
            is_common = not number or id_of(self.node, number, head) == id_of(ours, number, our_head)
        except NotComparable as problem:
            return OtherFacts(Presence.UP, head, str(problem))
        return OtherFacts(Presence.UP, head, "", is_common)


def may_be_inspected(folder: Path) -> bool:
    """Whether a process that has files of a directory open would be seen: those of other users are hidden."""
    return PROCESSES.is_dir() and os.geteuid() in {0, folder.stat().st_uid}


def _is_in_use(folder: Path) -> bool:
    try:
        require_unused(folder)
    except AdoptionRefused:
        return True
    return False
