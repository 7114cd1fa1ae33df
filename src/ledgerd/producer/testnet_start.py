"""A self-starting testnet: in its first blocks the initiator, whose key is published, becomes a validator. It must be
declared before hardforks 9 and 12 remove whoever never produced, and the committee (spec 06, section 16.3).
"""

from __future__ import annotations

from msgspec.structs import replace

from ledgerd.chain.chain import Chain
from ledgerd.producer.settings import ProducerSettings
from ledgerd.protocol.blocks.transaction import unsigned_transaction
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT, INITIATOR_ACCOUNT
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.money.transfers import TransferToVesting
from ledgerd.protocol.operations.validators import AccountValidatorVote, ValidatorUpdate
from ledgerd.protocol.types.assets import tokens

PUBLISHED_INITIATOR_KEY = "5JabcrvaLnBTCkCVFX5r4rmeGGfuJuVp4NAKRNLTey6pxhRQmf4"

STAKE = tokens(10_000_000_000)
LIFETIME = 600
ABOUT = "https://github.com/VIZ-Blockchain"


def is_self_starting(network: ChainParameters, settings: ProducerSettings) -> bool:
    key = PrivateKey.from_wif(PUBLISHED_INITIATOR_KEY).public
    return (
        network.max_validators == 1
        and network.initiator_key == key
        and COMMITTEE_ACCOUNT in settings.names
        and network.committee_key in settings.keys
    )


def with_initiator(settings: ProducerSettings) -> ProducerSettings:
    key = PrivateKey.from_wif(PUBLISHED_INITIATOR_KEY)
    names = tuple(sorted({*settings.names, INITIATOR_ACCOUNT}))
    return replace(settings, names=names, keys={key.public: key, **settings.keys})


class TestnetStart:
    """Sends the initiator's first transaction, once, while the chain is young."""

    __test__ = False

    def __init__(self) -> None:
        self._is_done = False

    def step(self, chain: Chain) -> None:
        if self._is_done or chain.head_number == 0:
            return
        self._is_done = True
        if chain.hardfork(9) or chain.validator(INITIATOR_ACCOUNT) is not None:
            return
        key = PrivateKey.from_wif(PUBLISHED_INITIATOR_KEY)
        operations = (
            TransferToVesting(INITIATOR_ACCOUNT, INITIATOR_ACCOUNT, STAKE),
            ValidatorUpdate(INITIATOR_ACCOUNT, ABOUT, key.public),
            AccountValidatorVote(INITIATOR_ACCOUNT, INITIATOR_ACCOUNT, approve=True),
        )
        draft = unsigned_transaction(chain.head_id, chain.head_time + LIFETIME, operations)
        chain.push_transaction(draft.signed(chain.network.chain_id, [key]))
