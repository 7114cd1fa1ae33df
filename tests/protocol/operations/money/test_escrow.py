"""Escrow: bytes, JSON, rules, authorities."""

from __future__ import annotations

from ledgerd.codec import codec_of
from ledgerd.protocol.operations.base import active
from ledgerd.protocol.operations.money.escrow import EscrowApprove, EscrowDispute, EscrowRelease, EscrowTransfer
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.protocol.operations.expect import accepts, asks_for_names, changed, refuses, round_trips

ALICE = AccountName("alice")
BOB = AccountName("bob")
VIZ = AccountName("viz")
CAROL = AccountName("carol")

TRANSFER = EscrowTransfer(ALICE, BOB, tokens(1_000), 30, VIZ, tokens(1), "", 1_538_352_000, 1_538_438_400)
DISPUTE = EscrowDispute(AccountName("s7040905.viz"), VIZ, AccountName("a55325516"), VIZ, 14)
RELEASE = EscrowRelease(
    VIZ, AccountName("a42164263"), AccountName("a95382426"), AccountName("a42164263"), VIZ, 0, tokens(13_372)
)
APPROVAL = EscrowApprove(AccountName("a59401238"), AccountName("a7576278"), VIZ, VIZ, 19, True)


def test_a_transfer_into_escrow() -> None:
    round_trips(
        TRANSFER,
        "0f05616c69636503626f62e8030000000000000356495a000000001e0000000376697a"
        "01000000000000000356495a00000000008063b15b00b5b25b",
        [
            "escrow_transfer",
            {
                "from": "alice",
                "to": "bob",
                "token_amount": "1.000 VIZ",
                "escrow_id": 30,
                "agent": "viz",
                "fee": "0.001 VIZ",
                "json_metadata": "",
                "ratification_deadline": "2018-10-01T00:00:00",
                "escrow_expiration": "2018-10-02T00:00:00",
            },
        ],
    )


def test_a_recorded_dispute() -> None:
    round_trips(
        DISPUTE,
        "100c73373034303930352e76697a0376697a096135353332353531360376697a0e000000",
        [
            "escrow_dispute",
            {"from": "s7040905.viz", "to": "viz", "agent": "a55325516", "who": "viz", "escrow_id": 14},
        ],
    )


def test_a_recorded_release() -> None:
    round_trips(
        RELEASE,
        "110376697a0961343231363432363309613935333832343236096134323136343236330376697a"
        "000000003c340000000000000356495a00000000",
        [
            "escrow_release",
            {
                "from": "viz",
                "to": "a42164263",
                "agent": "a95382426",
                "who": "a42164263",
                "receiver": "viz",
                "escrow_id": 0,
                "token_amount": "13.372 VIZ",
            },
        ],
    )


def test_a_recorded_approval() -> None:
    round_trips(
        APPROVAL,
        "12096135393430313233380861373537363237380376697a0376697a1300000001",
        [
            "escrow_approve",
            {
                "from": "a59401238",
                "to": "a7576278",
                "agent": "viz",
                "who": "viz",
                "escrow_id": 19,
                "approve": True,
            },
        ],
    )


def test_an_escrow_has_the_id_30_and_is_approved_unless_json_says_otherwise() -> None:
    none = NO_NAME
    nothing = tokens(0)
    assert codec_of(EscrowTransfer).from_json({}) == EscrowTransfer(none, none, nothing, 30, none, nothing, "", 0, 0)
    assert codec_of(EscrowDispute).from_json({}) == EscrowDispute(none, none, none, none, 30)
    assert codec_of(EscrowRelease).from_json({}) == EscrowRelease(none, none, none, none, none, 30, nothing)
    assert codec_of(EscrowApprove).from_json({}) == EscrowApprove(none, none, none, none, 30, True)


def test_names_have_to_be_valid() -> None:
    asks_for_names(TRANSFER, "sender", "recipient", "agent")
    asks_for_names(DISPUTE, "sender", "recipient", "agent", "who")
    asks_for_names(RELEASE, "sender", "recipient", "agent", "who", "receiver")
    asks_for_names(APPROVAL, "sender", "recipient", "agent", "who")


def test_amounts_are_not_below_zero() -> None:
    accepts(changed(TRANSFER, fee=tokens(0), token_amount=tokens(0)))
    refuses(changed(TRANSFER, fee=tokens(-1)), "fee.amount >= 0: fee cannot be negative")
    refuses(changed(TRANSFER, token_amount=tokens(-1)), "token_amount.amount >= 0: tokens amount cannot be negative")


def test_amounts_are_tokens() -> None:
    refuses(changed(TRANSFER, fee=shares(1)), "fee.symbol == TOKEN_SYMBOL: fee must be TOKEN_SYMBOL")
    refuses(
        changed(TRANSFER, token_amount=shares(1)),
        "token_amount.symbol == TOKEN_SYMBOL: amount must be TOKEN_SYMBOL",
    )
    refuses(
        changed(RELEASE, token_amount=shares(1)),
        "token_amount.symbol == TOKEN_SYMBOL: amount must be TOKEN_SYMBOL",
    )


def test_the_agent_is_a_third_party() -> None:
    accepts(changed(TRANSFER, recipient=ALICE))
    message = "from != agent && to != agent: agent must be a third party"
    refuses(changed(TRANSFER, agent=ALICE), message)
    refuses(changed(TRANSFER, agent=BOB), message)


def test_it_is_approved_before_it_expires() -> None:
    accepts(changed(TRANSFER, ratification_deadline=TRANSFER.escrow_expiration - 1))
    refuses(
        changed(TRANSFER, ratification_deadline=TRANSFER.escrow_expiration),
        "ratification_deadline < escrow_expiration: ratification deadline must be before escrow expiration",
    )


def test_metadata_is_json_in_utf8_or_nothing() -> None:
    accepts(changed(TRANSFER, json_metadata="{}"))
    refuses(
        changed(TRANSFER, json_metadata='"\udcff"'),
        "fc::is_utf8(json_metadata): JSON Metadata not formatted in UTF8",
    )
    refuses(
        changed(TRANSFER, json_metadata="{]"),
        "fc::json::is_valid(json_metadata): JSON Metadata not valid JSON",
    )


def test_a_party_disputes_and_not_the_agent() -> None:
    accepts(changed(DISPUTE, who=DISPUTE.sender))
    message = "who == from || who == to: who must be from or to"
    refuses(changed(DISPUTE, who=DISPUTE.agent), message)
    refuses(changed(DISPUTE, who=CAROL), message)


def test_parties_and_agent_release_to_a_party() -> None:
    for who in (RELEASE.sender, RELEASE.recipient, RELEASE.agent):
        accepts(changed(RELEASE, who=who))
    accepts(changed(RELEASE, receiver=RELEASE.recipient))
    refuses(
        changed(RELEASE, who=CAROL),
        "who == from || who == to || who == agent: who must be from or to or agent",
    )
    refuses(
        changed(RELEASE, receiver=RELEASE.agent),
        "receiver == from || receiver == to: receiver must be from or to",
    )


def test_something_has_to_be_released() -> None:
    accepts(changed(RELEASE, token_amount=tokens(1)))
    refuses(changed(RELEASE, token_amount=tokens(-1)), "token_amount.amount >= 0: amount cannot be negative")
    refuses(
        changed(RELEASE, token_amount=tokens(0)),
        "token_amount.amount > 0: escrow must release a non-zero amount",
    )


def test_recipient_and_agent_approve() -> None:
    accepts(changed(APPROVAL, who=APPROVAL.recipient, approve=False))
    refuses(changed(APPROVAL, who=APPROVAL.sender), "who == to || who == agent: to or agent must approve escrow")


def test_the_active_authority_of_who_acts() -> None:
    assert TRANSFER.authorities() == active(ALICE)
    assert changed(DISPUTE, who=DISPUTE.sender).authorities() == active(DISPUTE.sender)
    assert changed(RELEASE, who=RELEASE.agent).authorities() == active(RELEASE.agent)
    assert changed(APPROVAL, who=APPROVAL.recipient).authorities() == active(APPROVAL.recipient)
