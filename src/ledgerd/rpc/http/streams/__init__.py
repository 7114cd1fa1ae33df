"""Connections that stay open for events."""
