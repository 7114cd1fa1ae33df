"""Applying a transaction, and a proposal that has become one."""
