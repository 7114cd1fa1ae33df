"""The sections of a snapshot: which table each holds, and how its objects are written (spec 03, sections 27.2, 27.3).

An object is written as the JSON of its record, without the fields that the reference leaves out, and with `null` for an
optional one that is not set. The names of older nodes are read too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from typing import Any, Generic

from ledgerd.codec import DecodeError
from ledgerd.codec.annotations import fields_of
from ledgerd.codec.containers import Optional
from ledgerd.codec.json_scalars import as_object
from ledgerd.codec.json_text import Json
from ledgerd.codec.kinds import Kind
from ledgerd.codec.records import Field, RecordKind
from ledgerd.codec.source import Source
from ledgerd.projections.tables.market_records import PM_MARKET_META
from ledgerd.protocol.names import NO_NAME
from ledgerd.state.objects.accounts import ACCOUNT_AUTHORITIES, ACCOUNT_METADATA, ACCOUNTS
from ledgerd.state.objects.agents import AGENT_PERMISSIONS
from ledgerd.state.objects.awards import AWARD_SHARES_EXPIRE
from ledgerd.state.objects.bets import PM_BETS
from ledgerd.state.objects.commitments import PM_COMMITS
from ledgerd.state.objects.committee import COMMITTEE_REQUESTS, COMMITTEE_VOTES
from ledgerd.state.objects.content import CONTENT_TYPES, CONTENT_VOTES, CONTENTS
from ledgerd.state.objects.disputes import PM_CREATOR_BANS, PM_DISPUTE_VOTES, PM_DISPUTES
from ledgerd.state.objects.escrow import ESCROWS
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.objects.hardfork import HARDFORK_PROPERTIES
from ledgerd.state.objects.invites import INVITES
from ledgerd.state.objects.key_history import KEY_HISTORY
from ledgerd.state.objects.lazy_pool import (
    PM_LAZY_ALLOCATIONS,
    PM_LAZY_DEPOSITS,
    PM_LAZY_POOLS,
    PM_LAZY_WITHDRAW_REQUESTS,
)
from ledgerd.state.objects.leverage import PM_LEVERAGE_POSITIONS
from ledgerd.state.objects.liquidity import PM_LIQUIDITY
from ledgerd.state.objects.markets import PM_MARKETS, PM_OUTCOMES
from ledgerd.state.objects.oracles import PM_ORACLES
from ledgerd.state.objects.paid_subscriptions import PAID_SUBSCRIBES, PAID_SUBSCRIPTIONS
from ledgerd.state.objects.proposals import PROPOSALS, REQUIRED_APPROVALS
from ledgerd.state.objects.recovery import (
    ACCOUNT_RECOVERY_REQUESTS,
    CHANGE_RECOVERY_ACCOUNT_REQUESTS,
    MASTER_AUTHORITY_HISTORY,
)
from ledgerd.state.objects.settlements import PM_DEFERRED_CLAIMS, PM_SETTLEMENTS
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, KNOWN_TRANSACTIONS
from ledgerd.state.objects.validators import (
    VALIDATOR_CONFIRMATIONS,
    VALIDATOR_PENALTIES,
    VALIDATOR_SCHEDULES,
    VALIDATOR_VOTES,
    VALIDATORS,
    ValidatorConfirmation,
)
from ledgerd.state.objects.vesting import (
    FIX_VESTING_DELEGATIONS,
    VESTING_DELEGATION_EXPIRATIONS,
    VESTING_DELEGATIONS,
    WITHDRAW_VESTING_ROUTES,
)
from ledgerd.state.tables import E, Table

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
        "emergency_consensus_active",
        "emergency_consensus_start_block",
        "sharing_rate",
        "pending_stakeholder_reward",
        "vote_created_block",
        "pm_liquidity_committed",
        "pm_bets_staked",
        "pm_leverage_collateral",
        "pm_frozen_counters_seeded",
        "pm_frozen_counters_reseeded_v1",
        "pm_active_markets_seeded",
        "pm_oracle_gauges_seeded",
        "pm_batch_settle_cursor",
        "pm_batch_settle_bet_cursor",
    }
)
"""Fields that older files do not have; they are zero then."""


LATER_OF_ORACLES = (
    "last_penalty_stamp_time",
    "auto_accept_creator",
    "auto_accept_resolver",
    "auto_accept",
    "banned_by",
    "active_markets",
    "markets_in_dispute_window",
    "disputes_awaiting_response",
    "disputes_awaiting_decision",
    "resolved_late_count",
    "resolution_time_hist",
)
"""The reference does not import `banned_by` and `active_markets`, and then refuses valid transactions; here they are
read.
"""

LATER_OF_MARKETS = (
    "finalized_time",
    "accept_deadline",
    "decision_url",
    "decision_reason",
    "dispute_penalty_percent",
    "deferred_claim_count",
    "open_commits",
)
LATER_OF_DISPUTES = ("oracle_response", "oracle_response_time", "ballots")


class Nullable(Kind):
    """An optional value that is written as `null` when it is not set."""

    def __init__(self, optional: Optional) -> None:
        self._optional = optional

    def text(self, source: Source, value: str) -> str:
        """The value's text, or null."""
        return self._optional.text(source, value)

    def parse(self, value: object) -> Any:  # noqa: ANN401 - of whatever type the value is
        """Null means absent."""
        return self._optional.parse(value)

    def default(self) -> None:
        """Absent."""


class SnapshotSection(Generic[E]):
    """All objects of a table, in the order of their ids."""

    def __init__(
        self, table: Table[E], optional: Collection[str] = (), *, is_lenient: bool = False, name: str = ""
    ) -> None:
        """A record may lack the fields that are optional, or, in a lenient section, all but its id."""
        self.name = name or table.name
        self.table = table
        self._optional = LATER_FIELDS | set(optional)
        self._is_lenient = is_lenient

    @cached_property
    def fields(self) -> list[Field]:
        """The written fields of an object; the other ones come last in its record."""
        left_out = getattr(self.table.record, "UNREFLECTED", ())
        return [
            field._replace(kind=Nullable(field.kind)) if isinstance(field.kind, Optional) else field
            for field in fields_of(self.table.record)
            if field.attribute not in left_out
        ]

    @cached_property
    def text(self) -> Callable[[E], str]:
        return RecordKind(self.table.record, lambda: self.fields).printer

    @cached_property
    def _parsers(self) -> list[tuple[str, Callable[[object], Any]]]:
        return [(field.name, field.kind.parse) for field in self.fields]

    def parse(self, value: Json) -> E:
        """The object of parsed JSON; missing fields get the default of the record (spec 11, section 8.5)."""
        given = renamed(as_object(value))
        try:
            return self.table.record(*[parse(given[name]) for name, parse in self._parsers])
        except (KeyError, DecodeError):
            return self._parse_by_field(given)

    def _parse_by_field(self, given: dict[str, Json]) -> E:
        """The same where a field is missing or wrong: the error names it."""
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


SECTIONS: tuple[SnapshotSection[Any], ...] = (
    SnapshotSection(DYNAMIC_GLOBAL_PROPERTIES),
    SnapshotSection(VALIDATOR_SCHEDULES),
    SnapshotSection(HARDFORK_PROPERTIES),
    SnapshotSection(ACCOUNTS),
    SnapshotSection(ACCOUNT_AUTHORITIES),
    SnapshotSection(VALIDATORS),
    SnapshotSection(VALIDATOR_VOTES),
    SnapshotSection(BLOCK_SUMMARIES),
    SnapshotSection(CONTENTS),
    SnapshotSection(CONTENT_VOTES),
    ConfirmationSection(VALIDATOR_CONFIRMATIONS, name="block_post_validation"),
    SnapshotSection(KNOWN_TRANSACTIONS),
    SnapshotSection(VESTING_DELEGATIONS),
    SnapshotSection(VESTING_DELEGATION_EXPIRATIONS),
    SnapshotSection(FIX_VESTING_DELEGATIONS),
    SnapshotSection(WITHDRAW_VESTING_ROUTES),
    SnapshotSection(ESCROWS),
    SnapshotSection(PROPOSALS),
    SnapshotSection(REQUIRED_APPROVALS),
    SnapshotSection(COMMITTEE_REQUESTS),
    SnapshotSection(COMMITTEE_VOTES),
    SnapshotSection(INVITES),
    SnapshotSection(AWARD_SHARES_EXPIRE),
    SnapshotSection(PAID_SUBSCRIPTIONS),
    SnapshotSection(PAID_SUBSCRIBES),
    SnapshotSection(VALIDATOR_PENALTIES),
    SnapshotSection(CONTENT_TYPES),
    SnapshotSection(ACCOUNT_METADATA),
    SnapshotSection(MASTER_AUTHORITY_HISTORY),
    SnapshotSection(ACCOUNT_RECOVERY_REQUESTS),
    SnapshotSection(CHANGE_RECOVERY_ACCOUNT_REQUESTS),
    SnapshotSection(PM_ORACLES, LATER_OF_ORACLES),
    SnapshotSection(PM_MARKETS, LATER_OF_MARKETS),
    SnapshotSection(PM_OUTCOMES),
    SnapshotSection(PM_BETS, is_lenient=True),
    SnapshotSection(PM_LIQUIDITY, is_lenient=True),
    SnapshotSection(PM_COMMITS, is_lenient=True),
    SnapshotSection(PM_DISPUTES, LATER_OF_DISPUTES),
    SnapshotSection(PM_DISPUTE_VOTES, is_lenient=True),
    SnapshotSection(AGENT_PERMISSIONS, ["addons"]),
    SnapshotSection(KEY_HISTORY, is_lenient=True),
    SnapshotSection(PM_LAZY_POOLS, is_lenient=True),
    SnapshotSection(PM_LAZY_DEPOSITS, is_lenient=True),
    SnapshotSection(PM_LAZY_ALLOCATIONS, is_lenient=True),
    SnapshotSection(PM_LEVERAGE_POSITIONS, is_lenient=True),
    SnapshotSection(PM_LAZY_WITHDRAW_REQUESTS, is_lenient=True),
    SnapshotSection(PM_DEFERRED_CLAIMS, is_lenient=True),
    SnapshotSection(PM_SETTLEMENTS, is_lenient=True),
    SnapshotSection(PM_CREATOR_BANS, is_lenient=True),
)
"""In the order in which they are written."""

METADATA = SnapshotSection(PM_MARKET_META, ["child"])
"""Metadata of markets: no rule reads it, and nodes may leave it out (spec 11, section 8.5)."""

BY_NAME = {section.name: section for section in (*SECTIONS, METADATA)}
