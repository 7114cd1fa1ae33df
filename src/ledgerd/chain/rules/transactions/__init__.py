"""Applying a transaction, and a proposal that was approved."""
