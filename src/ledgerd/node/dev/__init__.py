"""The chain to develop on."""
