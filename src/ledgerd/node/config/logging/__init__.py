"""Logging: its sections of the configuration, and setting it up."""
