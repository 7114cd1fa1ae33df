"""The state as it is read."""
