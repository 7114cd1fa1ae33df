"""Validators, the votes for them, their schedule, and what they confirm (spec 02, sections 3.10 to 3.13). The
reference's index of validators by work is left out: the work is never written, and nothing walks it. Chain properties
are stored as they are, but made and packed once for all that hold the same: there are eighty of them, and most want
the same; to remember costs a tenth.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache, partial
from typing import Annotated, NoReturn

import msgspec

from ledgerd.codec import codec_of, record_kind
from ledgerd.codec.annotations import fields_of
from ledgerd.codec.errors import DecodeError
from ledgerd.codec.json.scalars import as_string
from ledgerd.codec.partial import fields_reader
from ledgerd.codec.source import Source, packing
from ledgerd.codec.types.numbers import Int16, ShareAmount, UInt8, UInt16, UInt32, UInt64, UInt128, Unsigned
from ledgerd.codec.types.records import RecordKind
from ledgerd.codec.types.strings import FixedBytes
from ledgerd.protocol.crypto.keys import NULL_KEY, PublicKey
from ledgerd.protocol.properties import ChainPropertiesHf14
from ledgerd.protocol.types.arrays import FlagRow, NameRow
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.protocol.types.versions import HardforkVersion, Version
from ledgerd.state.tables.keys import BOOL, INT64, NAME_TEXT, NAME_WORD, OBJECT_ID, OWN_ID, TIME, UINT128, descending
from ledgerd.state.tables.tables import Entity, ObjectId, Table, ordered, unique

REMEMBERED = 1024
SIZE = packing(record_kind(ChainPropertiesHf14).letters).size
"""Bytes of them all: none is of a size of its own."""


@lru_cache(REMEMBERED)
def _packed(properties: ChainPropertiesHf14) -> bytes:
    return codec_of(ChainPropertiesHf14).encode(properties)


@lru_cache(REMEMBERED)
def _unpacked(raw: bytes) -> ChainPropertiesHf14:
    return codec_of(ChainPropertiesHf14).decode_exactly(raw)


class StoredProperties(RecordKind):
    """The bytes and the JSON of the record."""

    letters = ""
    """None, so that nobody takes the fields apart."""

    def read(self, source: Source, target: str) -> None:
        source.add(f"{target} = {source.bind(_unpacked)}(buf[pos:pos + {SIZE}])")
        source.add(f"pos += {SIZE}")

    def write(self, source: Source, value: str) -> None:
        source.add(f"w({source.bind(_packed)}({value}))")


Properties = Annotated[
    ChainPropertiesHf14, StoredProperties(ChainPropertiesHf14, partial(fields_of, ChainPropertiesHf14))
]
"""All properties that there are."""


NEVER_SCHEDULED = (1 << 128) - 1
"""The virtual time of a validator whose turn never comes."""

WORK_SIZE = 32
NO_WORK = bytes(WORK_SIZE)


class SchedulePlace(IntEnum):
    """How a validator last came into the schedule."""

    TOP = 0
    SUPPORT = 1
    NONE = 2


class PlaceKind(Unsigned):
    """A byte; its word in JSON."""

    def __init__(self) -> None:
        super().__init__(8, "place in the schedule")

    def build(self, parts: list[str], source: Source) -> str:
        return f"{source.bind({place.value: place for place in SchedulePlace})}[{parts[0]}]"

    def text(self, source: Source, value: str) -> str:
        return f"{source.bind({place: chr(34) + place.name.lower() + chr(34) for place in SchedulePlace})}[{value}]"

    def parse(self, value: object) -> SchedulePlace:
        word = as_string(value)
        for place in SchedulePlace:
            if place.name.lower() == word:
                return place
        raise DecodeError(f"{word} is no place in the schedule")

    def default(self) -> SchedulePlace:
        """The first one, as the reference has it for a missing key."""
        return SchedulePlace.TOP


def _must_be_given() -> NoReturn:
    raise TypeError("the chain properties must be given: what they are by default depends on the network")


class Validator(Entity):
    """An account that may produce blocks, when enough others vote for it."""

    owner: AccountName = NO_NAME
    created: Time = 0
    url: str = ""
    votes: ShareAmount = 0
    penalty_percent: UInt32 = 0
    counted_votes: ShareAmount = 0
    schedule: Annotated[SchedulePlace, PlaceKind()] = SchedulePlace.NONE
    virtual_last_update: UInt128 = 0
    virtual_position: UInt128 = 0
    virtual_scheduled_time: UInt128 = NEVER_SCHEDULED
    total_missed: UInt32 = 0
    last_aslot: UInt64 = 0
    last_confirmed_block_num: UInt64 = 0
    current_run: UInt64 = 0
    last_supported_block_num: UInt64 = 0
    signing_key: PublicKey = NULL_KEY
    props: Properties = msgspec.field(default_factory=_must_be_given)
    last_work: Annotated[bytes, FixedBytes(WORK_SIZE, "digest")] = NO_WORK
    running_version: Version = 0
    hardfork_version_vote: HardforkVersion = 0
    hardfork_time_vote: Time = 0
    sharing_rate: UInt16 = 0
    pending_stakeholder_reward: ShareAmount = 0

    @property
    def is_active(self) -> bool:
        return self.signing_key != NULL_KEY


class ValidatorVote(Entity):
    """An account's vote for a validator."""

    validator: ObjectId = 0
    account: ObjectId = 0
    vote_created_block: UInt32 = 0


voted_validator: Callable[[bytes], int] = fields_reader(ValidatorVote, ("validator",))
"""The validator, from the bytes of a vote."""


class ValidatorSchedule(Entity):
    """Whose turn it is, and the properties that they have agreed on. There is one."""

    current_virtual_time: UInt128 = 0
    next_shuffle_block_num: UInt32 = 1
    current_shuffled_validators: NameRow = ()
    num_scheduled_validators: UInt8 = 1
    median_props: Properties = msgspec.field(default_factory=_must_be_given)
    majority_version: Version = 0

    @property
    def scheduled(self) -> tuple[AccountName, ...]:
        return self.current_shuffled_validators[: self.num_scheduled_validators]


class ValidatorPenaltyExpire(Entity):
    """A penalty that is taken back in time."""

    validator: AccountName = NO_NAME
    penalty_percent: Int16 = 0
    expires: Time = 0


class ValidatorConfirmation(Entity):
    """Which validators have confirmed a block."""

    block_num: UInt32 = 0
    block_id: BlockId = NO_BLOCK
    current_shuffled_validators: NameRow = ()
    current_shuffled_validators_validations: FlagRow = ()


# An index that ends with the object's own id is cheaper to keep than one that must look out for equal keys. So the
# id stands behind keys that cannot be equal anyway, since another index of the same table sees to that.

VALIDATORS = Table(Validator, number=3)
VALIDATOR_BY_NAME = unique(VALIDATORS, "by_name", lambda validator: (validator.owner,), (NAME_WORD,), is_fixed=True)
VALIDATOR_BY_VOTES = unique(
    VALIDATORS,
    "by_vote_name",
    lambda validator: (validator.votes, validator.owner, validator.id),
    (descending(INT64), NAME_TEXT, OWN_ID),
)
VALIDATOR_BY_COUNTED_VOTES = unique(
    VALIDATORS,
    "by_counted_vote_name",
    lambda validator: (validator.counted_votes, validator.owner, validator.id),
    (descending(INT64), NAME_TEXT, OWN_ID),
)
VALIDATOR_BY_SCHEDULE_TIME = unique(
    VALIDATORS,
    "by_schedule_time",
    lambda validator: (validator.virtual_scheduled_time, validator.id),
    (UINT128, OWN_ID),
)
VALIDATOR_BY_ACTIVE_COUNTED_VOTES = unique(
    VALIDATORS,
    "by_active_counted_vote_name",
    lambda validator: (validator.is_active, validator.counted_votes, validator.owner, validator.id),
    (BOOL, descending(INT64), NAME_TEXT, OWN_ID),
)
"""Ours: those who can be scheduled, without a walk over those who have no key."""
VALIDATOR_BY_PENDING_REWARD = unique(
    VALIDATORS,
    "by_pending_reward",
    lambda validator: (validator.pending_stakeholder_reward != 0, validator.owner, validator.id),
    (BOOL, NAME_WORD, OWN_ID),
)
"""Ours: those who have something to share at the end of an epoch, by name."""

VALIDATOR_VOTES = Table(ValidatorVote, number=10)
VALIDATOR_VOTE_BY_ACCOUNT = unique(
    VALIDATOR_VOTES,
    "by_account_validator",
    lambda vote: (vote.account, vote.validator),
    (OBJECT_ID, OBJECT_ID),
)
VALIDATOR_VOTE_BY_VALIDATOR = unique(
    VALIDATOR_VOTES,
    "by_validator_account",
    lambda vote: (vote.validator, vote.account, vote.id),
    (OBJECT_ID, OBJECT_ID, OWN_ID),
)

VALIDATOR_SCHEDULES = Table(ValidatorSchedule, number=6)

VALIDATOR_PENALTIES = Table(ValidatorPenaltyExpire, number=30)
PENALTY_BY_VALIDATOR = ordered(VALIDATOR_PENALTIES, "by_account", lambda penalty: (penalty.validator,), (NAME_WORD,))
PENALTY_BY_EXPIRATION = ordered(VALIDATOR_PENALTIES, "by_expiration", lambda penalty: (penalty.expires,), (TIME,))

VALIDATOR_CONFIRMATIONS = Table(ValidatorConfirmation, number=31)
