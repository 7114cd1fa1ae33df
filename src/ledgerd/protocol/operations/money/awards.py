"""Operations of awards: shares from the reward fund, for energy (spec 01, section 7.7)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.codec.types.numbers import UInt64
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Operation
from ledgerd.protocol.operations.roles import Meaning, Memo, Percent, Recipient, RegularSigner, Role, words
from ledgerd.protocol.types.assets import TOKEN_SYMBOL, Asset
from ledgerd.protocol.types.authority import require_valid_name
from ledgerd.protocol.types.beneficiary import Beneficiary, require_beneficiaries
from ledgerd.protocol.types.texts import require_memo

MAX_CUSTOM_SEQUENCE = 2**63 - 1


class Award(Operation, frozen=True, tag=47):
    """Awards an account with the worth of a percentage of the initiator's energy."""

    EN = words("Award", "{initiator} awarded {receiver} with {energy} of energy")
    RU = words("Награда", "{initiator} награждает {receiver}, тратя {energy} энергии")

    initiator: Annotated[RegularSigner, Role.SENDER]
    receiver: Annotated[Recipient, Role.ABSENT]
    energy: Percent
    custom_sequence: Annotated[UInt64, Meaning.OPTIONAL]
    memo: Memo
    beneficiaries: tuple[Beneficiary, ...]

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.initiator, self.receiver)
        require(self.energy <= HUNDRED_PERCENT, "energy <= CHAIN_100_PERCENT: ")
        _require_note(self.custom_sequence, self.memo)
        require_beneficiaries(self.beneficiaries)


class FixedAward(Operation, frozen=True, tag=60):
    """Awards an account with a set amount, for as much energy as it takes."""

    EN = words("Fixed award", "{initiator} awarded {receiver} with {reward_amount}")
    RU = words("Точная награда", "{initiator} награждает {receiver} на {reward_amount}")

    initiator: Annotated[RegularSigner, Role.SENDER]
    receiver: Annotated[Recipient, Role.ABSENT]
    reward_amount: Asset
    max_energy: Percent
    custom_sequence: Annotated[UInt64, Meaning.OPTIONAL]
    memo: Memo
    beneficiaries: tuple[Beneficiary, ...]

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.initiator, self.receiver)
        require(
            self.reward_amount.symbol == TOKEN_SYMBOL,
            "is_asset_type(reward_amount, TOKEN_SYMBOL): Reward amount must be TOKEN_SYMBOL",
        )
        require(
            self.reward_amount.amount > 0,
            "reward_amount.amount > 0: Reward amount cannot be negative or zero amount",
        )
        require(self.max_energy <= HUNDRED_PERCENT, "max_energy <= CHAIN_100_PERCENT: ")
        _require_note(self.custom_sequence, self.memo)
        require_beneficiaries(self.beneficiaries)


def _require_note(custom_sequence: int, memo: str) -> None:
    require(
        custom_sequence <= MAX_CUSTOM_SEQUENCE,
        "custom_sequence <= uint64_t(std::numeric_limits<int64_t>::max()): ",
    )
    require_memo(memo)
