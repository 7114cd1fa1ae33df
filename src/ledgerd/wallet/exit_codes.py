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
INTERRUPTED = 130
"""By Ctrl-C, before anything was sent; the shell's usual code for it."""

EXIT_CODES: dict[type[errors.WalletError], int] = {
    errors.NotAsked: NOT_ASKED,
    errors.WrongPassword: LOCKED,
    errors.LockedWallet: LOCKED,
    errors.ChangedPassword: LOCKED,
    errors.DamagedWallet: NO_WALLET,
    errors.ForeignWallet: NO_WALLET,
    errors.KeyNotFound: NO_KEY,
    errors.NodeUnreachable: 6,
    errors.NodeRefused: 7,
    errors.OtherChain: 8,
    errors.WrongClock: 9,
    errors.HeadWentBack: 10,
    errors.NodesDisagree: 11,
    errors.WrongAmount: 12,
    errors.NoSuchAccount: 13,
    errors.RuleBroken: 14,
    errors.NotConfirmed: 15,
    errors.NotSent: 16,
    errors.UnknownOutcome: 17,
    errors.ForeignFile: 18,
    errors.ExpiredTransaction: 19,
    errors.FeeChanged: 20,
}
"""Errors with a code of their own."""


def exit_code(error: errors.WalletError) -> int:
    return next((EXIT_CODES[kind] for kind in type(error).__mro__ if kind in EXIT_CODES), REFUSED)
