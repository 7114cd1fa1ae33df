"""The exit codes of `ledgerd wallet`; `docs/wallet.md` lists them."""

from __future__ import annotations

from ledgerd.wallet import errors

DONE = 0
REFUSED = 1
"""Something is wrong with what was asked; the text says what."""
NOT_ASKED = 2
"""A question had to be asked, and there is no terminal; also wrong arguments."""
LOCKED = 3
"""The wallet is locked, or the password is wrong."""
NO_WALLET = 4
"""The wallet's file is damaged, or none."""
NO_KEY = 5
"""The wallet does not have a key that is needed."""

_CODES: dict[type[errors.WalletError], int] = {
    errors.NotAsked: NOT_ASKED,
    errors.WrongPassword: LOCKED,
    errors.LockedWallet: LOCKED,
    errors.ChangedPassword: LOCKED,
    errors.DamagedWallet: NO_WALLET,
    errors.ForeignWallet: NO_WALLET,
    errors.KeyNotFound: NO_KEY,
}


def exit_code(error: errors.WalletError) -> int:
    """The exit code of an error."""
    return _CODES.get(type(error), REFUSED)
