"""Processes beside the main one: API workers and the recovery of keys."""
