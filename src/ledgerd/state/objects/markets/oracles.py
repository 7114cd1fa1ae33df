"""Oracles of prediction markets: their insurance, fees and record (spec 07, section 10.1)."""

from __future__ import annotations

from ledgerd.codec.types.numbers import ShareAmount, UInt16, UInt32
from ledgerd.protocol.types.arrays import TIME_CLASSES, TimeClasses
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.tables.keys import NAME_TEXT, TIME
from ledgerd.state.tables.tables import Entity, Table, ordered, unique

NOT_BANNED = 0


class PmOracle(Entity):
    """An account that says how markets ended, and what its insurance has had to pay for."""

    owner: AccountName = NO_NAME
    insurance: ShareAmount = 0
    fee_percent: UInt16 = 0
    fixed_fee: ShareAmount = 0
    rules_url: str = ""
    active_since: Time = 0
    last_active_time: Time = 0
    banned_until: Time = NOT_BANNED
    markets_accepted: UInt32 = 0
    markets_resolved: UInt32 = 0
    no_contest_count: UInt32 = 0
    missed_count: UInt32 = 0
    disputes_received: UInt32 = 0
    disputes_lost: UInt32 = 0
    disputes_won: UInt32 = 0
    disputes_auto_closed: UInt32 = 0
    dispute_responses_missed: UInt32 = 0
    total_volume_resolved: ShareAmount = 0
    total_insurance_slashed: ShareAmount = 0
    avg_resolution_time: UInt32 = 0
    penalty_stamps: UInt32 = 0
    bans_received: UInt32 = 0
    last_penalty_stamp_time: Time = 0
    auto_accept_creator: AccountName = NO_NAME
    auto_accept_resolver: AccountName = NO_NAME
    auto_accept: bool = False
    banned_by: AccountName = NO_NAME
    active_markets: UInt32 = 0
    markets_in_dispute_window: UInt32 = 0
    disputes_awaiting_response: UInt32 = 0
    disputes_awaiting_decision: UInt32 = 0
    resolved_late_count: UInt32 = 0
    resolution_time_hist: TimeClasses = (0,) * TIME_CLASSES


PM_ORACLES = Table(PmOracle, number=32)
ORACLE_BY_OWNER = unique(PM_ORACLES, "by_owner", lambda oracle: (oracle.owner,), (NAME_TEXT,))
ORACLE_BY_BAN = ordered(PM_ORACLES, "by_status", lambda oracle: (oracle.banned_until,), (TIME,))
"""The order in which bans end. Equal times are consensus (spec 07, section 10)."""
