"""Transactions of the wallet: made, shown, signed, sent and followed."""
