"""Operations of accounts as methods: generated from their declarations by `make docs`; not edited by hand."""

# ruff: noqa: A002, PLR0913 - an operation has as many parameters as it has fields, under their names

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from ledgerd.protocol.operations.accounts.proposals import OperationWrapper
from ledgerd.protocol.properties import (
    ChainPropertiesHf4,
    ChainPropertiesHf6,
    ChainPropertiesHf9,
    ChainPropertiesHf13,
    ChainPropertiesHf14,
    ChainPropertiesInit,
)
from ledgerd.sdk.transactions.operations.parameters import (
    OperationMethods,
    PointInTime,
    SharesAmount,
    SomeAuthority,
    SomeKey,
    VizAmount,
)


class AccountOperations(OperationMethods):
    """Adds operations of accounts."""

    def set_account_price(
        self, account: str, account_seller: str, account_offer_price: VizAmount, *, account_on_sale: bool
    ) -> Self:
        """Puts an account on sale, changes its price, or takes it off."""
        return self._make("set_account_price", account, account_seller, account_offer_price, account_on_sale)

    def set_subaccount_price(
        self, account: str, subaccount_seller: str, subaccount_offer_price: VizAmount, *, subaccount_on_sale: bool
    ) -> Self:
        """Puts the creation of subaccounts on sale, changes its price, or takes it off."""
        return self._make(
            "set_subaccount_price", account, subaccount_seller, subaccount_offer_price, subaccount_on_sale
        )

    def buy_account(
        self,
        buyer: str,
        account: str,
        account_offer_price: VizAmount,
        account_authorities_key: SomeKey,
        tokens_to_shares: VizAmount,
    ) -> Self:
        """Buys an account that is on sale, or bids for it, or has a subaccount created."""
        return self._make("buy_account", buyer, account, account_offer_price, account_authorities_key, tokens_to_shares)

    def target_account_sale(
        self,
        account: str,
        account_seller: str,
        target_buyer: str,
        account_offer_price: VizAmount,
        *,
        account_on_sale: bool,
    ) -> Self:
        """Puts an account on sale for one buyer alone."""
        return self._make(
            "target_account_sale", account, account_seller, target_buyer, account_offer_price, account_on_sale
        )

    def account_update(
        self,
        account: str,
        memo_key: SomeKey,
        *,
        master: SomeAuthority | None = None,
        active: SomeAuthority | None = None,
        regular: SomeAuthority | None = None,
        json_metadata: str = "",
    ) -> Self:
        """Changes the authorities that are given, the memo key and the metadata of an account."""
        return self._make("account_update", account, master, active, regular, memo_key, json_metadata)

    def account_create(
        self,
        *,
        fee: VizAmount,
        delegation: SharesAmount,
        creator: str,
        new_account_name: str,
        master: SomeAuthority,
        active: SomeAuthority,
        regular: SomeAuthority,
        memo_key: SomeKey,
        json_metadata: str = "",
        referrer: str = "",
    ) -> Self:
        """Creates an account for a fee, for shares that are delegated to it, or for both."""
        return self._make(
            "account_create",
            fee,
            delegation,
            creator,
            new_account_name,
            master,
            active,
            regular,
            memo_key,
            json_metadata,
            referrer,
        )

    def account_metadata(self, account: str, json_metadata: str) -> Self:
        """Replaces the metadata of an account."""
        return self._make("account_metadata", account, json_metadata)

    def request_account_recovery(
        self, recovery_account: str, account_to_recover: str, new_master_authority: SomeAuthority
    ) -> Self:
        """The recovery account proposes a new master authority for an account that was stolen."""
        return self._make("request_account_recovery", recovery_account, account_to_recover, new_master_authority)

    def recover_account(
        self, account_to_recover: str, new_master_authority: SomeAuthority, recent_master_authority: SomeAuthority
    ) -> Self:
        """The owner takes the account back: by the proposed master authority, and by one of before the theft."""
        return self._make("recover_account", account_to_recover, new_master_authority, recent_master_authority)

    def change_recovery_account(self, account_to_recover: str, new_recovery_account: str) -> Self:
        """Names another account that may help with a recovery; it takes effect much later."""
        return self._make("change_recovery_account", account_to_recover, new_recovery_account)

    def set_agent_permission(
        self,
        account: str,
        agent_name: str,
        agent_key: SomeKey,
        *,
        operations: Iterable[str] = (),
        expiration: PointInTime = 0,
        addons: Iterable[str] = (),
    ) -> Self:
        """Lets a key sign these operations for an account until a time; without operations and addons, ends
        that.
        """
        return self._make("set_agent_permission", account, agent_name, agent_key, operations, expiration, addons)

    def custom(
        self,
        id: str,
        json: str,
        *,
        required_active_auths: Iterable[str] = (),
        required_regular_auths: Iterable[str] = (),
    ) -> Self:
        """JSON that some accounts sign, with the id of the program that it is for."""
        return self._make("custom", required_active_auths, required_regular_auths, id, json)

    def proposal_create(
        self,
        author: str,
        title: str,
        expiration_time: PointInTime,
        *,
        memo: str = "",
        proposed_operations: Iterable[OperationWrapper] = (),
        review_period_time: PointInTime | None = None,
    ) -> Self:
        """Proposes operations, under a title that is the author's own."""
        return self._make(
            "proposal_create", author, title, memo, expiration_time, proposed_operations, review_period_time
        )

    def proposal_update(
        self,
        author: str,
        title: str,
        *,
        active_approvals_to_add: Iterable[str] = (),
        active_approvals_to_remove: Iterable[str] = (),
        master_approvals_to_add: Iterable[str] = (),
        master_approvals_to_remove: Iterable[str] = (),
        regular_approvals_to_add: Iterable[str] = (),
        regular_approvals_to_remove: Iterable[str] = (),
        key_approvals_to_add: Iterable[SomeKey] = (),
        key_approvals_to_remove: Iterable[SomeKey] = (),
    ) -> Self:
        """Adds approvals to a proposal, or takes them back; each needs the authority that it stands for."""
        return self._make(
            "proposal_update",
            author,
            title,
            active_approvals_to_add,
            active_approvals_to_remove,
            master_approvals_to_add,
            master_approvals_to_remove,
            regular_approvals_to_add,
            regular_approvals_to_remove,
            key_approvals_to_add,
            key_approvals_to_remove,
        )

    def proposal_delete(self, author: str, title: str, requester: str) -> Self:
        """Withdraws a proposal, or vetoes it."""
        return self._make("proposal_delete", author, title, requester)

    def validator_update(self, owner: str, url: str, block_signing_key: SomeKey) -> Self:
        """Declares an account as validator, or changes its page and signing key; a null key retires it."""
        return self._make("validator_update", owner, url, block_signing_key)

    def account_validator_vote(self, account: str, validator: str, *, approve: bool = True) -> Self:
        """Votes for a validator, or takes the vote back."""
        return self._make("account_validator_vote", account, validator, approve)

    def account_validator_proxy(self, account: str, proxy: str) -> Self:
        """Lets another account vote with this one's shares; the empty name takes that back."""
        return self._make("account_validator_proxy", account, proxy)

    def chain_properties_update(self, owner: str, props: ChainPropertiesInit) -> Self:
        """Votes on the chain properties of the first version."""
        return self._make("chain_properties_update", owner, props)

    def versioned_chain_properties_update(
        self,
        owner: str,
        props: ChainPropertiesInit
        | ChainPropertiesHf4
        | ChainPropertiesHf6
        | ChainPropertiesHf9
        | ChainPropertiesHf13
        | ChainPropertiesHf14,
    ) -> Self:
        """Votes on the chain properties of any version."""
        return self._make("versioned_chain_properties_update", owner, props)

    def set_reward_sharing(self, owner: str, sharing_rate: int) -> Self:
        """Sets the part of its rewards that a validator shares with those who vote for it."""
        return self._make("set_reward_sharing", owner, sharing_rate)
