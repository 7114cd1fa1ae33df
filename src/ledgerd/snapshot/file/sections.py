"""The sections of a snapshot: which table each holds, and how its objects are written (spec 03, sections 27.2, 27.3):
as JSON, without the fields that the reference leaves out. Names of older nodes are read too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic

from ledgerd.codec import DecodeError
from ledgerd.codec.annotations import fields_of
from ledgerd.codec.json.scalars import as_object
from ledgerd.codec.json.text import Json
from ledgerd.codec.kinds import UNUSUAL, Kind
from ledgerd.codec.source import Source
from ledgerd.codec.types.containers import Optional
from ledgerd.codec.types.records import Field, RecordKind
from ledgerd.projections.tables.market_records import PM_MARKET_META
from ledgerd.protocol.types.names import NO_NAME
from ledgerd.state.objects import TABLES
from ledgerd.state.objects.validators import ValidatorConfirmation
from ledgerd.state.tables.tables import E, Table

HEAD_BLOCK = "fork_db_head_block"
"""The last member of the state: a block, not a section."""

OLD_SECTIONS = {
    "witness_schedule": "validator_schedule",
    "witness": "validator",
    "witness_vote": "validator_vote",
    "witness_penalty_expire": "validator_penalty_expire",
}

OLD_FIELDS = {
    "current_witness": "current_validator",
    "inflation_witness_percent": "inflation_validator_percent",
    "witnesses_voted_for": "validators_voted_for",
    "witness": "validator",
    "current_shuffled_witnesses": "current_shuffled_validators",
    "current_shuffled_witnesses_validations": "current_shuffled_validators_validations",
    "num_scheduled_witnesses": "num_scheduled_validators",
    "witness_miss_penalty_percent": "validator_miss_penalty_percent",
    "witness_miss_penalty_duration": "validator_miss_penalty_duration",
    "witness_declaration_fee": "validator_declaration_fee",
}
"""Former names of fields, in all sections and in chain properties."""

LATER_FIELDS = frozenset(
    {
        "emergency_consensus_active", "emergency_consensus_start_block", "sharing_rate", "pending_stakeholder_reward",
        "vote_created_block", "pm_liquidity_committed", "pm_bets_staked", "pm_leverage_collateral",
        "pm_frozen_counters_seeded", "pm_frozen_counters_reseeded_v1", "pm_active_markets_seeded",
        "pm_oracle_gauges_seeded", "pm_batch_settle_cursor", "pm_batch_settle_bet_cursor",
    }
)  # fmt: skip
"""Fields that older files do not have; they are zero then."""

LATER_FIELDS_OF: dict[str, tuple[str, ...]] = {
    "pm_oracle": (
        "last_penalty_stamp_time", "auto_accept_creator", "auto_accept_resolver", "auto_accept", "banned_by",
        "active_markets", "markets_in_dispute_window", "disputes_awaiting_response", "disputes_awaiting_decision",
        "resolved_late_count", "resolution_time_hist",
    ),
    "pm_market": (
        "finalized_time", "accept_deadline", "decision_url", "decision_reason", "dispute_penalty_percent",
        "deferred_claim_count", "open_commits",
    ),
    "pm_dispute": ("oracle_response", "oracle_response_time", "ballots"),
    "agent_permission": ("addons",),
    "pm_market_meta": ("child",),
}  # fmt: skip
"""The same of one section. The reference does not import `banned_by` and `active_markets` of oracles, and then refuses
valid transactions; here they are read.
"""

ORDER = (
    "dynamic_global_property", "validator_schedule", "hardfork_property", "account", "account_authority", "validator",
    "validator_vote", "block_summary", "content", "content_vote", "validator_confirmation", "transaction",
    "vesting_delegation", "vesting_delegation_expiration", "fix_vesting_delegation", "withdraw_vesting_route", "escrow",
    "proposal", "required_approval", "committee_request", "committee_vote", "invite", "award_shares_expire",
    "paid_subscription", "paid_subscribe", "validator_penalty_expire", "content_type", "account_metadata",
    "master_authority_history", "account_recovery_request", "change_recovery_account_request", "pm_oracle", "pm_market",
    "pm_outcome", "pm_bet", "pm_liquidity", "pm_commit", "pm_dispute", "pm_dispute_vote", "agent_permission",
    "key_history", "pm_lazy_pool", "pm_lazy_deposit", "pm_lazy_allocation", "pm_leverage_position",
    "pm_lazy_withdraw_request", "pm_deferred_claim", "pm_settlement", "pm_creator_ban",
)  # fmt: skip

OTHER_NAMES = {"validator_confirmation": "block_post_validation"}
"""The sections that are not called as their tables are."""

LENIENT = frozenset(
    {
        "pm_bet", "pm_liquidity", "pm_commit", "pm_dispute_vote", "key_history", "pm_lazy_pool", "pm_lazy_deposit",
        "pm_lazy_allocation", "pm_leverage_position", "pm_lazy_withdraw_request", "pm_deferred_claim", "pm_settlement",
        "pm_creator_ban",
    }
)  # fmt: skip
"""Sections whose records may lack all fields but their id."""


class Nullable(Kind):
    """An optional value that is written as `null` when it is not set."""

    def __init__(self, optional: Optional) -> None:
        self._optional = optional

    def text(self, source: Source, value: str) -> str:
        return self._optional.text(source, value)

    def parse(self, value: object) -> Any:  # noqa: ANN401 - of whatever type the value is
        return self._optional.parse(value)

    def parse_quickly(self, source: Source, value: str) -> str:
        return self._optional.parse_quickly(source, value)

    def default(self) -> None:
        """Absent."""


class SnapshotSection(Generic[E]):
    """All objects of a table, in the order of their ids."""

    def __init__(self, table: Table[E]) -> None:
        self.name = OTHER_NAMES.get(table.name, table.name)
        self.table = table
        self._optional = LATER_FIELDS.union(LATER_FIELDS_OF.get(table.name, ()))
        self._is_lenient = table.name in LENIENT

    @cached_property
    def fields(self) -> list[Field]:
        """The other ones come last in its record."""
        left_out = getattr(self.table.record, "UNREFLECTED", ())
        return [
            field._replace(kind=Nullable(field.kind)) if isinstance(field.kind, Optional) else field
            for field in fields_of(self.table.record)
            if field.attribute not in left_out
        ]

    @cached_property
    def _kind(self) -> RecordKind:
        return RecordKind(self.table.record, lambda: self.fields)

    @cached_property
    def text(self) -> Callable[[E], str]:
        return self._kind.printer

    @cached_property
    def _quick_parsers(self) -> dict[int, Callable[[Any], E]]:
        """Parsers by the number of members: for records of today, and for those of older files."""
        older = [field for field in self.fields if field.name not in self._optional]
        kinds = (RecordKind(self.table.record, lambda: older), self._kind)
        return {len(kind.fields): kind.quick_parser for kind in kinds}

    def parse(self, value: Json) -> E:
        """The object of parsed JSON; missing fields get the default of the record (spec 11, section 8.5)."""
        try:
            return self._quick_parsers[len(as_object(value))](value)
        except UNUSUAL:
            return self._parse_by_field(renamed(as_object(value)))

    def _parse_by_field(self, given: dict[str, Json]) -> E:
        made: dict[str, Any] = {}
        for field in self.fields:
            if field.name not in given:
                if field.name not in self._optional and (not self._is_lenient or field.attribute == "id"):
                    raise DecodeError("is missing").within(field.name)
                continue
            try:
                made[field.attribute] = field.kind.parse(given[field.name])
            except DecodeError as problem:
                raise problem.within(field.name) from None
        return self.table.record(**made)


class ConfirmationSection(SnapshotSection[ValidatorConfirmation]):
    """Confirmations of blocks, whose flags are memory that the reference sets only where a place has a name."""

    def parse(self, value: Json) -> ValidatorConfirmation:
        """The object; a flag of a place without a name is false, whatever its byte (spec 03, section 19.2)."""
        confirmation = super().parse(value)
        names = confirmation.current_shuffled_validators
        flags = confirmation.current_shuffled_validators_validations
        if len(flags) != len(names):
            problem = DecodeError(f"{len(flags)} flags are not those of {len(names)} places")
            raise problem.within("current_shuffled_validators_validations")
        confirmation.current_shuffled_validators_validations = tuple(
            is_set and name != NO_NAME for name, is_set in zip(names, flags, strict=True)
        )
        return confirmation


def renamed(given: dict[str, Json]) -> dict[str, Json]:
    """The members of an object under today's names, those of the properties inside it too."""
    if OLD_FIELDS.keys().isdisjoint(given) and dict not in map(type, given.values()):
        return given
    return {
        OLD_FIELDS.get(name, name): renamed(value) if isinstance(value, dict) else value
        for name, value in given.items()
    }


def _section_of(table: Table[Any]) -> SnapshotSection[Any]:
    return ConfirmationSection(table) if table.record is ValidatorConfirmation else SnapshotSection(table)


_TABLES = {table.name: table for table in TABLES}
SECTIONS = tuple(_section_of(_TABLES[name]) for name in ORDER)

METADATA = SnapshotSection(PM_MARKET_META)
"""Metadata of markets: no rule reads it, and nodes may leave it out (spec 11, section 8.5)."""

BY_NAME = {section.name: section for section in (*SECTIONS, METADATA)}
