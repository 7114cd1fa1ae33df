"""Accounts and what belongs to one."""
