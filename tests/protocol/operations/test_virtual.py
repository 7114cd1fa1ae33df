"""Virtual operations: bytes, JSON as history has it, and that nobody can send one."""

from __future__ import annotations

from typing import Any

import pytest

from ledgerd.protocol.operations import virtual
from ledgerd.protocol.operations.base import Authorities, Operation
from ledgerd.protocol.operations.variant import declared_in
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.names import AccountName
from tests.protocol.operations.expect import refuses, round_trips

ALICE, BOB, NULL, VIZ = (AccountName(name) for name in ("alice", "bob", "null", "viz"))
PAID = AccountName("a46015160")

CASES: tuple[tuple[Operation, str, list[Any]], ...] = (
    (
        virtual.AuthorReward(ALICE, "p", tokens(1), shares(2)),
        "1a05616c696365017001000000000000000356495a0000000002000000000000000653484152455300",
        [
            "author_reward",
            {
                "author": "alice",
                "permlink": "p",
                "token_payout": "0.001 VIZ",
                "vesting_payout": "0.000002 SHARES",
            },
        ],
    ),
    (
        virtual.CurationReward(BOB, shares(3), ALICE, "p"),
        "1b03626f620300000000000000065348415245530005616c6963650170",
        [
            "curation_reward",
            {
                "curator": "bob",
                "reward": "0.000003 SHARES",
                "content_author": "alice",
                "content_permlink": "p",
            },
        ],
    ),
    (
        virtual.ContentReward(ALICE, "p", tokens(4)),
        "1c05616c696365017004000000000000000356495a00000000",
        ["content_reward", {"author": "alice", "permlink": "p", "payout": "0.004 VIZ"}],
    ),
    (
        virtual.FillVestingWithdraw(VIZ, VIZ, shares(1_000_000), tokens(240)),
        "1d0376697a0376697a40420f00000000000653484152455300f0000000000000000356495a00000000",
        [
            "fill_vesting_withdraw",
            {
                "from_account": "viz",
                "to_account": "viz",
                "withdrawn": "1.000000 SHARES",
                "deposited": "0.240 VIZ",
            },
        ],
    ),
    (
        virtual.ShutdownValidator(AccountName("a15579495")),
        "1e09613135353739343935",
        ["shutdown_validator", {"owner": "a15579495"}],
    ),
    (virtual.Hardfork(1), "1f01000000", ["hardfork", {"hardfork_id": 1}]),
    (
        virtual.ContentPayoutUpdate(AccountName("a50473005"), "post-15139393"),
        "20096135303437333030350d706f73742d3135313339333933",
        ["content_payout_update", {"author": "a50473005", "permlink": "post-15139393"}],
    ),
    (
        virtual.ContentBenefactorReward(BOB, ALICE, "p", shares(5)),
        "2103626f6205616c696365017005000000000000000653484152455300",
        [
            "content_benefactor_reward",
            {"benefactor": "bob", "author": "alice", "permlink": "p", "reward": "0.000005 SHARES"},
        ],
    ),
    (
        virtual.ReturnVestingDelegation(VIZ, shares(0)),
        "220376697a00000000000000000653484152455300",
        ["return_vesting_delegation", {"account": "viz", "vesting_shares": "0.000000 SHARES"}],
    ),
    (
        virtual.CommitteeCancelRequest(26),
        "261a000000",
        ["committee_cancel_request", {"request_id": 26}],
    ),
    (
        virtual.CommitteeApproveRequest(34),
        "2722000000",
        ["committee_approve_request", {"request_id": 34}],
    ),
    (
        virtual.CommitteePayoutRequest(34),
        "2822000000",
        ["committee_payout_request", {"request_id": 34}],
    ),
    (
        virtual.CommitteePayRequest(AccountName("a13051277"), 34, tokens(22_645)),
        "29096131333035313237372200000075580000000000000356495a00000000",
        ["committee_pay_request", {"worker": "a13051277", "request_id": 34, "tokens": "22.645 VIZ"}],
    ),
    (
        virtual.ValidatorReward(VIZ, shares(95_999)),
        "2a0376697aff760100000000000653484152455300",
        ["validator_reward", {"validator": "viz", "shares": "0.095999 SHARES"}],
    ),
    (
        virtual.ReceiveAward(VIZ, NULL, 1, "", shares(999)),
        "300376697a046e756c6c010000000000000000e7030000000000000653484152455300",
        [
            "receive_award",
            {
                "initiator": "viz",
                "receiver": "null",
                "custom_sequence": 1,
                "memo": "",
                "shares": "0.000999 SHARES",
            },
        ],
    ),
    (
        virtual.BenefactorAward(VIZ, AccountName("a54388825"), NULL, 4, "", shares(3_242_999)),
        "310376697a09613534333838383235046e756c6c040000000000000000f77b3100000000000653484152455300",
        [
            "benefactor_award",
            {
                "initiator": "viz",
                "benefactor": "a54388825",
                "receiver": "null",
                "custom_sequence": 4,
                "memo": "",
                "shares": "3.242999 SHARES",
            },
        ],
    ),
    (
        virtual.PaidSubscriptionAction(VIZ, PAID, 1, tokens(1000), 1, tokens(1000)),
        "340376697a096134363031353136300100e8030000000000000356495a000000000100e8030000000000000356495a00000000",
        [
            "paid_subscription_action",
            {
                "subscriber": "viz",
                "account": "a46015160",
                "level": 1,
                "amount": "1.000 VIZ",
                "period": 1,
                "summary_amount": "1.000 VIZ",
            },
        ],
    ),
    (
        virtual.CancelPaidSubscription(VIZ, PAID),
        "350376697a09613436303135313630",
        ["cancel_paid_subscription", {"subscriber": "viz", "account": "a46015160"}],
    ),
    (
        virtual.AccountSale(AccountName("lot06"), tokens(16_000), AccountName("frank"), ALICE),
        "39056c6f743036803e0000000000000356495a00000000056672616e6b05616c696365",
        [
            "account_sale",
            {"account": "lot06", "price": "16.000 VIZ", "buyer": "frank", "seller": "alice"},
        ],
    ),
    (
        virtual.ExpireEscrowRatification(
            VIZ,
            AccountName("a2498703"),
            AccountName("a22294156"),
            3,
            tokens(13_471),
            tokens(59),
            1_795_174_488,
        ),
        (
            "3b0376697a08613234393837303309613232323934313536030000009f340000000000000356495a00000000"
            "3b000000000000000356495a000000005830006b"
        ),
        [
            "expire_escrow_ratification",
            {
                "from": "viz",
                "to": "a2498703",
                "agent": "a22294156",
                "escrow_id": 3,
                "token_amount": "13.471 VIZ",
                "fee": "0.059 VIZ",
                "ratification_deadline": "2026-11-20T11:34:48",
            },
        ],
    ),
    (
        virtual.Bid(AccountName("lot00"), BOB, tokens(10_000)),
        "3e056c6f74303003626f6210270000000000000356495a00000000",
        ["bid", {"account": "lot00", "bidder": "bob", "bid": "10.000 VIZ"}],
    ),
    (
        virtual.Outbid(AccountName("lot01"), BOB, tokens(11_000)),
        "3f056c6f74303103626f62f82a0000000000000356495a00000000",
        ["outbid", {"account": "lot01", "bidder": "bob", "bid": "11.000 VIZ"}],
    ),
    (
        virtual.StakeholderReward(VIZ, BOB, shares(27_999)),
        "410376697a03626f625f6d0000000000000653484152455300",
        [
            "stakeholder_reward",
            {"validator": "viz", "stakeholder": "bob", "shares": "0.027999 SHARES"},
        ],
    ),
)


@pytest.mark.parametrize(("operation", "raw", "printed"), CASES, ids=[case[2][0] for case in CASES])
def test_a_virtual_operation_is_told_as_history_has_it(operation: Operation, raw: str, printed: list[Any]) -> None:
    round_trips(operation, raw, printed)


def test_every_virtual_operation_is_told_here() -> None:
    assert tuple(type(operation) for operation, _, _ in CASES) == declared_in(virtual)


def test_a_long_sequence_number_is_told_as_text() -> None:
    round_trips(
        virtual.ReceiveAward(VIZ, BOB, 5_000_000_000, "", shares(0)),
        "300376697a03626f6200f2052a010000000000000000000000000653484152455300",
        [
            "receive_award",
            {
                "initiator": "viz",
                "receiver": "bob",
                "custom_sequence": "5000000000",
                "memo": "",
                "shares": "0.000000 SHARES",
            },
        ],
    )


@pytest.mark.parametrize("operation", [case[0] for case in CASES], ids=[case[2][0] for case in CASES])
def test_nobody_can_send_a_virtual_operation_and_nobody_signs_for_it(operation: Operation) -> None:
    refuses(operation, "false: This is a virtual operation")
    assert operation.VIRTUAL
    assert operation.authorities() == Authorities()
