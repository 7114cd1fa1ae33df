"""Transactions and blocks."""
