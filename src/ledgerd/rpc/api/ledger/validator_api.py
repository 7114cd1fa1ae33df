"""`validator_api`: validators and their schedule; methods have former names too (spec 05, section 11)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice, takewhile
from typing import Annotated

import msgspec

from ledgerd.codec import codec_of
from ledgerd.codec.types.numbers import UInt8, UInt32, UInt64, UInt128
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.properties import ChainPropertiesHf14
from ledgerd.protocol.types.arrays import NameRow
from ledgerd.protocol.types.names import AccountName, cut_name
from ledgerd.protocol.types.versions import Version
from ledgerd.rpc.api.shared.kinds import Names, Printed, answer_record, record_of, require_limit
from ledgerd.rpc.api.shared.properties import ShownProperties, hardfork_of_properties, shown
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects import validators
from ledgerd.state.tables.tables import Index, ObjectId

VALIDATOR_API = Api("validator_api", "Validators, the votes for them, and whose turn it is.", former_name="witness_api")

MOST_VALIDATORS = 100
"""Validators of one answer."""
MOST_NAMES = 1000
"""Names of one answer."""


_INTERNAL = {"schedule", "current_run", "last_supported_block_num"}

ValidatorRecord = answer_record(
    "ValidatorRecord",
    "A validator.",
    [name for name in validators.Validator.__struct_fields__ if name not in _INTERNAL],
    validators.Validator,
    props=ShownProperties,
)


class ScheduleRecord(msgspec.Struct, frozen=True):
    """The validators of the current round, and the chain properties in force."""

    id: ObjectId
    current_virtual_time: UInt128
    next_shuffle_block_num: UInt32
    current_shuffled_validators: NameRow
    num_scheduled_validators: UInt8
    median_props: ChainPropertiesHf14
    majority_version: Version


ValidatorText = Annotated[str, Printed(ValidatorRecord)]
"""The JSON text of a validator record, which is cached until the validator changes."""


@cache
def _printer(hardfork: int) -> Callable[[validators.Validator], str]:
    """The function that prints validators since a hardfork; the same object each time, since caches use it as a key."""
    codec = codec_of(ValidatorRecord)
    return lambda each: codec.to_json(record_of(ValidatorRecord, each, props=shown(each.props, hardfork)))


def _texts(view: ApiView, ids: Iterable[int]) -> Iterator[ValidatorText | None]:
    derive = _printer(hardfork_of_properties(view.state))
    return (view.state.derived(derive, validators.VALIDATORS.by_id, each) for each in ids)


@VALIDATOR_API.method(aliases=["get_active_witnesses"], examples=[[]])
def get_active_validators(view: ApiView) -> Names:
    """The validators of this round in the order of their slots; one may have several slots."""
    schedule = view.state.get(validators.VALIDATOR_SCHEDULES, 0)
    return tuple(name for name in schedule.current_shuffled_validators if name)


@VALIDATOR_API.method(aliases=["get_witness_schedule"], examples=[[]])
def get_validator_schedule(view: ApiView) -> ScheduleRecord:
    """The schedule; each name in it has 32 bytes, padded with zeros."""
    return record_of(ScheduleRecord, view.state.get(validators.VALIDATOR_SCHEDULES, 0))


@VALIDATOR_API.method(args=exactly(1), aliases=["get_witnesses"], examples=[[[0, 1]]])
def get_validators(view: ApiView, ids: tuple[ObjectId, ...]) -> tuple[ValidatorText | None, ...]:
    """The validators with these ids; null for one that does not exist."""
    return tuple(_texts(view, ids))


@VALIDATOR_API.method(args=exactly(1), aliases=["get_witness_by_account"], examples=[["committee"]])
def get_validator_by_account(view: ApiView, account: AccountName) -> ValidatorText | None:
    """The validator of an account."""
    derive = _printer(hardfork_of_properties(view.state))
    return view.state.derived(derive, validators.VALIDATOR_BY_NAME, account)


@VALIDATOR_API.method(args=exactly(2), aliases=["get_witnesses_by_vote"], examples=[["", 10]])
def get_validators_by_vote(view: ApiView, start: str, limit: UInt32) -> tuple[ValidatorText, ...]:
    """Validators by votes, the most first, from a validator on."""
    found = takewhile(lambda each: each.votes > 0, _from(view, validators.VALIDATOR_BY_VOTES, start, limit))
    return tuple(filter(None, _texts(view, (validator.id for validator in found))))


@VALIDATOR_API.method(args=exactly(2), aliases=["get_witnesses_by_counted_vote"], examples=[["", 10]])
def get_validators_by_counted_vote(view: ApiView, start: str, limit: UInt32) -> tuple[ValidatorText, ...]:
    """Validators by counted votes, which penalties reduce, the most first, from a validator on."""
    found = takewhile(
        lambda each: each.counted_votes > 0, _from(view, validators.VALIDATOR_BY_COUNTED_VOTES, start, limit)
    )
    return tuple(filter(None, _texts(view, (validator.id for validator in found))))


def _from(view: ApiView, index: Index[validators.Validator], start: str, limit: int) -> islice[validators.Validator]:
    require_limit(limit, MOST_VALIDATORS)
    lower: tuple[object, ...] = ()
    if start:
        first = view.state.lookup(validators.VALIDATOR_BY_NAME, cut_name(start))
        if first is None:
            raise RuleViolation("nameitr != name_idx.end(): invalid validator name ${n}", n=start)
        lower = index.key(first)
    return islice(view.state.scan(index, lower=lower), limit)


@VALIDATOR_API.method(aliases=["get_witness_count"], examples=[[]])
def get_validator_count(view: ApiView) -> UInt64:
    """The number of validators."""
    return view.state.count(validators.VALIDATORS)


@VALIDATOR_API.method(args=exactly(2), aliases=["lookup_witness_accounts"], examples=[["", 10]])
def lookup_validator_accounts(view: ApiView, lower_bound_name: AccountName, limit: UInt32) -> Names:
    """Names of validators from a name on, in word order, which is not alphabetical."""
    require_limit(limit, MOST_NAMES)
    return tuple(
        each.owner for each in islice(view.state.scan(validators.VALIDATOR_BY_NAME, lower=(lower_bound_name,)), limit)
    )
