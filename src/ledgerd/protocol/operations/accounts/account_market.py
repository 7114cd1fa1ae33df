"""Operations that offer accounts, and the right to create subaccounts, for sale (spec 01, section 7.3)."""

from __future__ import annotations

from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Fee, Operation
from ledgerd.protocol.operations.roles import ActiveSigner, MasterSigner, Recipient, Sender, Touched, words
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.authority import require_valid_name


class SetAccountPrice(Operation, frozen=True, tag=54):
    """Puts an account on sale, changes its price, or takes it off."""

    EN = words(
        "Account on sale",
        "{account_seller} put the account {account} on sale for {account_offer_price}",
        no_account_on_sale="The account {account} was taken off sale",
    )
    RU = words(
        "Цена аккаунта",
        "{account_seller} продаёт аккаунт {account} за {account_offer_price}",
        no_account_on_sale="Аккаунт {account} снят с продажи",
    )
    FEE = Fee("account_on_sale_fee", is_once=True)

    account: MasterSigner
    account_seller: Touched
    account_offer_price: Asset
    account_on_sale: bool

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account, self.account_seller)
        _require_account_price(self.account_offer_price)


class SetSubaccountPrice(Operation, frozen=True, tag=55):
    """Puts the creation of subaccounts on sale, changes its price, or takes it off."""

    EN = words(
        "Subaccounts on sale",
        "{subaccount_seller} sells subaccounts of {account} for {subaccount_offer_price}",
        no_subaccount_on_sale="Subaccounts of {account} were taken off sale",
    )
    RU = words(
        "Цена субаккаунтов",
        "{subaccount_seller} продаёт субаккаунты {account} по {subaccount_offer_price}",
        no_subaccount_on_sale="Субаккаунты {account} сняты с продажи",
    )
    FEE = Fee("subaccount_on_sale_fee", is_once=True)

    account: MasterSigner
    subaccount_seller: Touched
    subaccount_offer_price: Asset
    subaccount_on_sale: bool

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account, self.subaccount_seller)
        require(
            self.subaccount_offer_price.is_token,
            "is_asset_type(subaccount_offer_price, TOKEN_SYMBOL): Subaccount offer price must be TOKEN_SYMBOL",
        )
        require(
            self.subaccount_offer_price.amount > 0,
            "subaccount_offer_price.amount > 0: Cannot set subaccount offer price with negative or zero amount",
        )


class BuyAccount(Operation, frozen=True, tag=56):
    """Buys an account that is on sale, or bids for it, or has a subaccount created."""

    EN = words("Account purchase", "{buyer} bought, or bid for, the account {account} at {account_offer_price}")
    RU = words("Покупка аккаунта", "{buyer} покупает аккаунт {account} или делает ставку: {account_offer_price}")

    buyer: ActiveSigner
    account: Touched
    account_offer_price: Asset
    account_authorities_key: PublicKey
    tokens_to_shares: Asset

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.buyer, self.account)
        require(
            self.account_offer_price.is_token,
            "is_asset_type(account_offer_price, TOKEN_SYMBOL): Account offer price must be TOKEN_SYMBOL",
        )
        require(
            self.account_offer_price.amount > 0,
            "account_offer_price.amount > 0: Offer price cannot be negative or zero amount",
        )
        require(
            self.tokens_to_shares.is_token,
            "is_asset_type(tokens_to_shares, TOKEN_SYMBOL): Token to shares must be TOKEN_SYMBOL",
        )
        require(
            self.tokens_to_shares.amount > 0,
            "tokens_to_shares.amount > 0: Token to shares cannot be negative or zero amount",
        )


class TargetAccountSale(Operation, frozen=True, tag=61):
    """Puts an account on sale for one buyer alone."""

    EN = words(
        "Sale to one buyer",
        "{account_seller} put the account {account} on sale for {target_buyer} at {account_offer_price}",
        no_account_on_sale="The sale of the account {account} to {target_buyer} was called off",
    )
    RU = words(
        "Адресная продажа",
        "{account_seller} продаёт аккаунт {account} только для {target_buyer} за {account_offer_price}",
        no_account_on_sale="Продажа аккаунта {account} для {target_buyer} отменена",
    )
    FEE = Fee("account_on_sale_fee", is_once=True)

    account: MasterSigner
    account_seller: Sender
    target_buyer: Recipient
    account_offer_price: Asset
    account_on_sale: bool

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account, self.account_seller, self.target_buyer)
        _require_account_price(self.account_offer_price)


def _require_account_price(price: Asset) -> None:
    require(
        price.is_token,
        "is_asset_type(account_offer_price, TOKEN_SYMBOL): Account offer price must be TOKEN_SYMBOL",
    )
    require(
        price.amount > 0,
        "account_offer_price.amount > 0: Cannot set account offer price with negative or zero amount",
    )
