"""Custom operations: JSON for other programs, which the ledger does not interpret (spec 01, section 7.5)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec import sorted_by
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Authorities, Operation
from ledgerd.protocol.operations.roles import Remark, words
from ledgerd.protocol.types.names import AccountName, word_order
from ledgerd.protocol.types.texts import byte_length, is_json, is_utf8

MAX_ID_LENGTH = 32


class Custom(Operation, frozen=True, tag=10):
    """JSON that some accounts sign, with the id of the program that it is for."""

    EN = words("Protocol data", "{signers} sent data of the protocol “{id}”")
    RU = words("Данные протокола", "{signers} отправляет данные протокола «{id}»")
    CARRIES_DATA = True

    required_active_auths: Annotated[tuple[AccountName, ...], sorted_by(word_order)]
    required_regular_auths: Annotated[tuple[AccountName, ...], sorted_by(word_order)]
    id: str
    json: Remark

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """Require a signer, a short id, and valid JSON. Neither names nor the encoding of the id are checked."""
        require(
            self.required_active_auths or self.required_regular_auths,
            "(required_active_auths.size() + required_regular_auths.size()) > 0: "
            "at least one account must be specified",
        )
        require(byte_length(self.id) <= MAX_ID_LENGTH, "id.size() <= 32: id is too long")
        require(is_utf8(self.json), "fc::is_utf8(json): JSON Metadata not formatted in UTF8")
        require(is_json(self.json), "fc::json::is_valid(json): JSON Metadata not valid JSON")

    @property
    def signers(self) -> tuple[AccountName, ...]:
        return self.required_active_auths + self.required_regular_auths

    def authorities(self) -> Authorities:
        """All named accounts. A transaction with both kinds is never valid (spec 01, section 10.2)."""
        return Authorities(active=self.required_active_auths, regular=self.required_regular_auths)
