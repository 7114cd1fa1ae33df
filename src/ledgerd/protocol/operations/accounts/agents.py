"""Operations of agents: keys that may sign some operations for an account (spec 07, section 5; spec 10, section 2)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec import sorted_by
from ledgerd.protocol import constants
from ledgerd.protocol.crypto.keys import NULL_KEY, PublicKey
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Extensions, Operation
from ledgerd.protocol.operations.roles import ActiveSigner, Meaning, words
from ledgerd.protocol.operations.variant import OLD_NAMES, names_that_can_be_sent
from ledgerd.protocol.types.authority import require_valid_name
from ledgerd.protocol.types.names import AccountName, text_order
from ledgerd.protocol.types.texts import byte_length
from ledgerd.protocol.types.times import Time

TextSet = Annotated[tuple[str, ...], sorted_by(text_order)]
"""Texts in the order of their bytes, each once."""

OPERATION_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")
AGENT_NAME = OPERATION_NAME | {"-"}
SEPARATOR = ","
"""Between the texts of a set where the state holds it as one text."""

NEVER_DELEGABLE = frozenset(
    {
        "proposal_update",
        "account_update",
        "recover_account",
        "change_recovery_account",
        "set_account_price",
        "set_subaccount_price",
        "target_account_sale",
        "vote",
        "content",
        "delete_content",
    }
)
"""Operations that no agent can sign: those on the ownership of an account, and those reserved to its owner."""


class SetAgentPermission(Operation, frozen=True, tag=105):
    """Lets a key sign these operations for an account until a time; without operations and addons, ends that."""

    EN = words(
        "Agent's rights",
        "{account} lets the agent “{agent_name}” act for it until {expiration}",
        is_revocation="{account} removed the agent “{agent_name}”",
        no_expiration="{account} lets the agent “{agent_name}” act for it, without an end",
    )
    RU = words(
        "Права агента",
        "{account} разрешает агенту «{agent_name}» действовать от своего имени до {expiration}",
        is_revocation="{account} убирает агента «{agent_name}»",
        no_expiration="{account} разрешает агенту «{agent_name}» действовать от своего имени бессрочно",
    )

    account: ActiveSigner
    agent_name: Annotated[AccountName, Meaning.LABEL]
    agent_key: PublicKey
    operations: TextSet
    expiration: Annotated[Time, Meaning.OPTIONAL]
    addons: TextSet
    extensions: Extensions

    @property
    def is_revocation(self) -> bool:
        return not self.operations and not self.addons

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """Name, agent, key, addons, operations (spec 10, section 2.2). The time is not checked."""
        require_valid_name(self.account)
        require(self.agent_name, "!label.empty(): agent_name is empty")
        require(
            AGENT_NAME.issuperset(self.agent_name),
            'label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == string::npos: '
            "agent_name ${n} must be lower-case ascii, digits, '_' or '-'",
            n=self.agent_name,
        )
        if not self.is_revocation:
            require(
                self.agent_key != NULL_KEY,
                "agent_key != public_key_type(): agent_key is required when granting",
            )
        require(
            len(self.addons) <= constants.MAX_AGENT_ADDONS,
            "addons.size() <= AGENT_MAX_ADDONS: at most ${c} addons",
            c=constants.MAX_AGENT_ADDONS,
        )
        for addon in self.addons:
            _check_addon(addon)
        for name in self.operations:
            _check_operation_name(name)


def _check_addon(addon: str) -> None:
    require(addon, "!a.empty(): empty addon")
    require(
        byte_length(addon) <= constants.MAX_AGENT_ADDON_LENGTH,
        "a.size() <= AGENT_MAX_ADDON_LEN: addon ${a} is longer than ${c} bytes",
        a=addon,
        c=constants.MAX_AGENT_ADDON_LENGTH,
    )
    require(SEPARATOR not in addon, "a.find(',') == string::npos: addon ${a} must not contain ','", a=addon)


def _check_operation_name(raw: str) -> None:
    require(raw, "!raw.empty(): empty operation name in the permission list")
    require(
        byte_length(raw) <= constants.MAX_AGENT_OPERATION_NAME_LENGTH,
        "raw.size() <= AGENT_MAX_OPERATION_NAME_LEN: operation name ${n} is longer than ${c} bytes",
        n=raw,
        c=constants.MAX_AGENT_OPERATION_NAME_LENGTH,
    )
    require(
        OPERATION_NAME.issuperset(raw),
        'raw.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == string::npos: '
        "operation name ${n} must be lower-case ascii, digits or underscore",
        n=raw,
    )
    name = OLD_NAMES.get(raw, raw)
    require(name == raw, "name == raw: operation name ${n} is a legacy alias, use ${c}", n=raw, c=name)
    require(
        name not in NEVER_DELEGABLE,
        "!never_delegable_operation_names().count(name): operation ${n} is not delegable",
        n=name,
    )
    require(
        name in names_that_can_be_sent(),
        "is_broadcastable_operation_wire_name(name): unknown or non-broadcastable operation ${n}",
        n=name,
    )
