"""Pending transactions, and making a block of them."""
