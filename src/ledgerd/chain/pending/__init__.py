"""Transactions that wait for a block, and making a block of them."""
