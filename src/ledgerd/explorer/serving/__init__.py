"""Browsers: their connections, their limits, and what is sent to them as it happens."""
