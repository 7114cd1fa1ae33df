"""Wrong numbers of arguments, against what a reference node said of them (spec 05, section 6.4)."""

from __future__ import annotations

import json

import pytest

from ledgerd.protocol.errors import RuleViolation
from ledgerd.rpc.call.counts import UNCOUNTED, Count, between, broadcast, either, exactly, from_to
from ledgerd.rpc.call.errors import PlainError, missing_argument
from tests.rpc.recorded_requests import ENVELOPES, NEWER, recorded_exchanges

ONE_S, TWO_S, THREE_S = exactly(1), exactly(2), exactly(3)
ONE_TO_ONE, ONE_TO_TWO, TWO_OF_THE_LATER = from_to(1, 1), from_to(1, 2), exactly(2, "_S")
ONE_OR_TWO, TWO_OR_THREE = either(1, 2), either(2, 3)

COUNTS: dict[str, Count] = {
    "get_accounts": ONE_S,
    "get_block": ONE_S,
    "get_block_header": ONE_S,
    "get_irreversible_block": ONE_S,
    "get_master_history": ONE_S,
    "get_potential_signatures": ONE_S,
    "get_recovery_request": ONE_S,
    "get_transaction_hex": ONE_S,
    "lookup_account_names": ONE_S,
    "verify_authority": ONE_S,
    "get_transaction": ONE_S,
    "get_validator_by_account": ONE_S,
    "get_validators": ONE_S,
    "get_accounts_on_auction": TWO_OR_THREE,
    "get_accounts_on_sale": TWO_OR_THREE,
    "get_escrow": TWO_S,
    "get_required_signatures": TWO_S,
    "get_subaccounts_on_sale": TWO_OR_THREE,
    "lookup_accounts": TWO_S,
    "verify_account_authority": TWO_S,
    "get_ops_in_block": TWO_S,
    "get_validators_by_counted_vote": TWO_S,
    "get_validators_by_vote": TWO_S,
    "lookup_validator_accounts": TWO_S,
    "get_account_history": THREE_S,
    "get_proposed_transactions": THREE_S,
    "get_withdraw_routes": ONE_OR_TWO,
    "get_vesting_delegations": between(2, 4),
    "get_expiring_vesting_delegations": between(2, 3),
    "get_committee_request": ONE_TO_TWO,
    "get_paid_subscription_status": ONE_TO_TWO,
    "get_committee_request_votes": ONE_TO_ONE,
    "get_committee_requests_list": ONE_TO_ONE,
    "get_invite_by_id": ONE_TO_ONE,
    "get_invite_by_key": ONE_TO_ONE,
    "get_invites_list": ONE_TO_ONE,
    "get_active_paid_subscriptions": ONE_TO_ONE,
    "get_inactive_paid_subscriptions": ONE_TO_ONE,
    "get_paid_subscription_options": ONE_TO_ONE,
    "get_account": TWO_OF_THE_LATER,
    "get_paid_subscriptions": TWO_OF_THE_LATER,
    "broadcast_transaction": broadcast("n_args == 1", 1, 1),
    "broadcast_block": broadcast("n_args == 1", 1, 1, "1 argument"),
}


def refusal(method: str, given: int) -> str:
    """What is said of a number of arguments; nothing where it is right."""
    try:
        COUNTS.get(method, UNCOUNTED).check(given)
    except RuleViolation as error:
        return f"Assert Exception (10)\n{error.message}\n"
    return ""


def test_every_recorded_number_of_arguments_is_judged_as_recorded() -> None:
    judged = 0
    for exchange in recorded_exchanges(NEWER):
        if exchange.number in ENVELOPES:
            continue
        _, method, arguments = json.loads(exchange.body)["params"]
        message = json.loads(exchange.answer).get("error", {}).get("message", "")
        recorded = message if "Expected " in message else ""
        assert (exchange.body, refusal(method, len(arguments))) == (exchange.body, recorded)
        judged += bool(recorded)
    assert judged == 665


def test_a_missing_argument_is_refused_as_recorded() -> None:
    recorded = [json.loads(each.answer)["error"] for each in recorded_exchanges() if "_M_range_check" in each.answer]

    assert len(recorded) == 42
    ours = [missing_argument(index, index) for index in (0, 1)]
    assert {(each["code"], each["message"]) for each in recorded} == {(each.code, each.message) for each in ours}


@pytest.mark.parametrize(("count", "given"), [(UNCOUNTED, 0), (UNCOUNTED, 99), (broadcast("n_args >= 1", 1, None), 9)])
def test_what_is_not_counted_passes(count: Count, given: int) -> None:
    count.check(given)


def test_a_missing_argument_has_no_data() -> None:
    assert isinstance(missing_argument(0, 0), PlainError)
