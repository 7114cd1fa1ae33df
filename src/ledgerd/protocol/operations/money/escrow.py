"""Operations of escrow: tokens that an agent holds between two others (spec 01, section 7.5)."""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from ledgerd.codec import missing
from ledgerd.codec.types.numbers import UInt32
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Operation
from ledgerd.protocol.operations.roles import (
    ActiveSigner,
    IdOf,
    Meaning,
    PaidRecipient,
    Recipient,
    Role,
    Sender,
    Touched,
    words,
)
from ledgerd.protocol.types.assets import TOKEN_SYMBOL, Asset
from ledgerd.protocol.types.authority import require_valid_name
from ledgerd.protocol.types.texts import require_json_metadata
from ledgerd.protocol.types.times import Time

EscrowId = Annotated[UInt32, missing(30), IdOf.ESCROW]
"""The sender's own number for an escrow."""


class EscrowTransfer(Operation, frozen=True, tag=15):
    """Puts tokens, and the agent's fee, aside until recipient and agent agree."""

    EN = words("Escrow", "{from} put {token_amount} into escrow {escrow_id} for {to}, with the agent {agent}")
    RU = words("Эскроу", "{from} помещает {token_amount} в эскроу {escrow_id} для {to}, агент — {agent}")
    CARRIES_DATA = True

    sender: Annotated[ActiveSigner, Role.SENDER, Role.PAYER] = field(name="from")
    recipient: Recipient = field(name="to")
    token_amount: Asset
    escrow_id: EscrowId
    agent: Touched
    fee: Asset
    json_metadata: Annotated[str, Meaning.OPTIONAL]
    ratification_deadline: Time
    escrow_expiration: Time

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.sender, self.recipient, self.agent)
        require(self.fee.amount >= 0, "fee.amount >= 0: fee cannot be negative")
        require(self.token_amount.amount >= 0, "token_amount.amount >= 0: tokens amount cannot be negative")
        require(
            self.agent not in (self.sender, self.recipient),
            "from != agent && to != agent: agent must be a third party",
        )
        require(self.fee.symbol == TOKEN_SYMBOL, "fee.symbol == TOKEN_SYMBOL: fee must be TOKEN_SYMBOL")
        _require_token_amount(self.token_amount)
        require(
            self.ratification_deadline < self.escrow_expiration,
            "ratification_deadline < escrow_expiration: ratification deadline must be before escrow expiration",
        )
        require_json_metadata(self.json_metadata)


class EscrowDispute(Operation, frozen=True, tag=16):
    """Leaves the decision to the agent."""

    EN = words("Escrow dispute", "{who} disputed escrow {escrow_id}: the agent {agent} decides")
    RU = words("Спор по эскроу", "{who} оспаривает эскроу {escrow_id}: решает агент {agent}")

    sender: Sender = field(name="from")
    recipient: Recipient = field(name="to")
    agent: Touched
    who: Annotated[ActiveSigner, Role.ABSENT]
    escrow_id: EscrowId

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.sender, self.recipient, self.agent, self.who)
        require(
            self.who in (self.sender, self.recipient),
            "who == from || who == to: who must be from or to",
        )


class EscrowRelease(Operation, frozen=True, tag=17):
    """Pays tokens out of an escrow, to the recipient or back to the sender."""

    EN = words("Escrow payment", "{who} released {token_amount} from escrow {escrow_id} to {receiver}")
    RU = words("Выплата эскроу", "{who} выплачивает {token_amount} из эскроу {escrow_id} аккаунту {receiver}")

    sender: Sender = field(name="from")
    recipient: Touched = field(name="to")
    agent: Touched
    who: Annotated[ActiveSigner, Role.ABSENT]
    receiver: Annotated[PaidRecipient, Role.ABSENT]
    escrow_id: EscrowId
    token_amount: Asset

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.sender, self.recipient, self.agent, self.who, self.receiver)
        require(
            self.who in (self.sender, self.recipient, self.agent),
            "who == from || who == to || who == agent: who must be from or to or agent",
        )
        require(
            self.receiver in (self.sender, self.recipient),
            "receiver == from || receiver == to: receiver must be from or to",
        )
        require(self.token_amount.amount >= 0, "token_amount.amount >= 0: amount cannot be negative")
        require(self.token_amount.amount > 0, "token_amount.amount > 0: escrow must release a non-zero amount")
        _require_token_amount(self.token_amount)


class EscrowApprove(Operation, frozen=True, tag=18):
    """Agrees to an escrow, or refuses it."""

    EN = words(
        "Escrow answer",
        "{who} agreed to escrow {escrow_id} from {from} to {to}",
        no_approve="{who} refused escrow {escrow_id} from {from} to {to}",
    )
    RU = words(
        "Ответ по эскроу",
        "{who} подтверждает эскроу {escrow_id} от {from} для {to}",
        no_approve="{who} отклоняет эскроу {escrow_id} от {from} для {to}",
    )

    sender: Sender = field(name="from")
    recipient: Recipient = field(name="to")
    agent: Touched
    who: Annotated[ActiveSigner, Role.ABSENT]
    escrow_id: EscrowId
    approve: Annotated[bool, missing(True)]

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.sender, self.recipient, self.agent, self.who)
        require(
            self.who in (self.recipient, self.agent),
            "who == to || who == agent: to or agent must approve escrow",
        )


def _require_token_amount(amount: Asset) -> None:
    require(amount.symbol == TOKEN_SYMBOL, "token_amount.symbol == TOKEN_SYMBOL: amount must be TOKEN_SYMBOL")
